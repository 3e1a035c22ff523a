#include <string>
#include <vector>

#include "base/clock.h"
#include "lane/worker.h"

// A worker alone, so that the lanes' tests need not wait for the whole program to be built. Called
// as that is: main "worker" ARGUMENTS...
int main(int argc, char** argv) {
  const corelane::SystemClock clock;
  return corelane::lane::run_worker(std::vector<std::string>(argv + 2, argv + argc), clock);
}
