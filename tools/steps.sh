# shellcheck shell=bash
# A list of steps with progress and an estimate of the time left, for ./demo and ./test (sourced).
#
#   add_step KEY TITLE SECONDS COMMAND [ARGUMENT...]   SECONDS is the guess for a first run on 2 cores
#   run_steps NAME                                     runs them in order; false when one failed
#
# Output of a step goes to build/logs/NAME/KEY.log; a terminal shows its last line, a failure its end. A step whose
# title ends in "..." shows its output as it comes. What a step took is the estimate of the next run.
# Ctrl-C and SIGTERM end the running step (its process group), call clean_up if there is one, and exit 130.
# on_failure=stop (default) or go-on says what follows a failed step; a step named "build" always stops.

step_keys=() step_titles=() step_guesses=() step_commands=()
failed_steps=()
on_failure=stop
child=

add_step() {
  step_keys+=("$1")
  step_titles+=("$2")
  step_guesses+=("$3")
  shift 3
  step_commands+=("$(printf '%q ' "$@")")
}

clock() { # SECONDS -> "45 s" or "12 min 5 s"
  if (($1 < 60)); then echo "$1 s"; else echo "$(($1 / 60)) min $(($1 % 60)) s"; fi
}

take_up_times() { # last run's seconds instead of the guesses
  local i key seconds
  [[ -f $times ]] || return 0
  while read -r key seconds; do
    for i in "${!step_keys[@]}"; do
      [[ ${step_keys[i]} != "$key" ]] || step_guesses[i]=$seconds
    done
  done <"$times"
}

remember_time() { # KEY SECONDS
  touch "$times"
  { grep -v "^$1 " "$times"; echo "$1 $2"; } >"$times.new"
  mv "$times.new" "$times"
}

seconds_after() { # what the steps behind number $1 are guessed to take
  local i sum=0
  for ((i = $1 + 1; i < ${#step_keys[@]}; i++)); do sum=$((sum + step_guesses[i])); done
  echo "$sum"
}

show_progress() { # INDEX ELAPSED LOG: one line, drawn over on a terminal and now and then otherwise
  local guess=${step_guesses[$1]} elapsed=$2 last line width left
  last=$(tail -c 400 "$3" | tr '\r' '\n' | sed '/^[[:space:]]*$/d' | tail -n 1)
  if [[ $last =~ ^\[([0-9]+)/([0-9]+)\] ]] && ((BASH_REMATCH[1] >= 10)); then # ninja and clang-tidy count
    guess=$((elapsed * BASH_REMATCH[2] / BASH_REMATCH[1]))
  fi
  left=$((guess > elapsed ? guess - elapsed : 0))
  line="    $(clock "$elapsed") of about $(clock "$guess"), $(clock $((left + $(seconds_after "$1")))) left in all"
  if [[ -t 2 ]]; then
    width=$(tput cols 2>/dev/null || echo 100)
    line="$line   $last"
    printf '\r\033[K%s' "${line:0:width-1}" >&2
  elif ((elapsed > 0 && elapsed % 30 == 0)); then
    printf '%s   %s\n' "$line" "${last:0:120}" >&2
  fi
}

end_child() {
  [[ -n $child ]] || return 0
  local waited
  kill -INT -- "-$child" 2>/dev/null
  for ((waited = 0; waited < 100; waited++)); do
    kill -0 -- "-$child" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL -- "-$child" 2>/dev/null
  child=
}

interrupted() {
  trap '' INT TERM
  [[ ! -t 2 ]] || echo >&2
  echo "stopping; the same command goes on from here" >&2
  end_child
  ! declare -F clean_up >/dev/null || clean_up
  exit 130
}

run_step() { # INDEX; false when it fails
  local key=${step_keys[$1]} title=${step_titles[$1]} start=$SECONDS log status=0
  log=$logs/$key.log
  printf '[%d/%d] %s   (about %s)\n' $(($1 + 1)) ${#step_keys[@]} "$title" "$(clock "${step_guesses[$1]}")" >&2
  set -m # the step gets a process group of its own, so that all of it can be ended
  if [[ $title == *... ]]; then
    (eval "${step_commands[$1]}") > >(tee "$log") 2>&1 </dev/null &
  else
    (eval "${step_commands[$1]}") >"$log" 2>&1 </dev/null &
  fi
  child=$!
  set +m
  while kill -0 "$child" 2>/dev/null; do
    [[ $title == *... ]] || show_progress "$1" $((SECONDS - start)) "$log"
    sleep 1
  done
  wait "$child" || status=$?
  child=
  [[ ! -t 2 || $title == *... ]] || printf '\r\033[K' >&2
  if ((status)); then
    printf '    FAILED after %s; the end of %s:\n' "$(clock $((SECONDS - start)))" "$log" >&2
    [[ $title == *... ]] || tail -n 60 "$log" | sed 's/^/    | /' >&2
    return 1
  fi
  remember_time "$key" $((SECONDS - start))
  printf '    done in %s\n' "$(clock $((SECONDS - start)))" >&2
}

run_steps() {
  logs=build/logs/$1
  times=$logs/times
  mkdir -p "$logs"
  take_up_times
  trap interrupted INT TERM
  local i
  echo "$1: ${#step_keys[@]} steps, about $(clock "$(seconds_after -1)")" >&2
  for i in "${!step_keys[@]}"; do
    run_step "$i" && continue
    failed_steps+=("${step_keys[i]}")
    [[ $on_failure == go-on && ${step_keys[i]} != build ]] || break
  done
  ((${#failed_steps[@]} == 0))
}
