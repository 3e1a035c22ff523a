// Draws the charts and sorts the tables of a report. Everything is readable without it, but for the charts.
"use strict";

function drawCharts() {
  for (const spec of document.querySelectorAll("script.spec")) {
    const target = document.getElementById(spec.dataset.chart);
    vegaEmbed(target, JSON.parse(spec.textContent), {
      actions: false,
      renderer: "svg",
      defaultStyle: false,
      tooltip: { theme: "custom", disableDefaultStyle: true, offsetX: 14, offsetY: 14 },
    }).then(({ view }) => {
      view.addEventListener("click", (_event, item) => {
        if (item && item.datum && item.datum.id) showExperiment(item.datum.id);
      });
      target.dataset.drawn = "yes";
    });
  }
}

// Opens the table that holds an experiment and points at its row.
function showExperiment(id) {
  const row = document.getElementById("x-" + id);
  if (!row) return;
  row.closest("details").open = true;
  document.querySelectorAll("tr.seen").forEach((seen) => seen.classList.remove("seen"));
  row.classList.add("seen");
  row.scrollIntoView({ block: "center" });
}

function sortKey(cell) {
  const number = cell.dataset.sort;
  return number === undefined || number === "" ? cell.textContent : Number(number);
}

function compare(a, b) {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}

function sortTable(table, column, ascending) {
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [sortKey(row.cells[column]), row]);
  rows.sort((a, b) => (ascending ? 1 : -1) * compare(a[0], b[0]));
  body.append(...rows.map(([, row]) => row));
  for (const heading of table.querySelectorAll("th[data-column]")) {
    if (Number(heading.dataset.column) === column) {
      heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    } else {
      heading.removeAttribute("aria-sort");
    }
  }
}

function makeSortable(table) {
  const select = document.createElement("select");
  for (const heading of table.querySelectorAll("th[data-column]")) {
    const column = Number(heading.dataset.column);
    const button = document.createElement("button");
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => sortTable(table, column, heading.getAttribute("aria-sort") !== "ascending"));
    select.add(new Option(heading.dataset.name, column));
  }
  select.addEventListener("change", () => sortTable(table, Number(select.value), true));
  const label = document.createElement("label");
  label.className = "sort-by";
  label.append("Sort by ", select);
  table.before(label);
}

document.querySelectorAll("table.sortable").forEach(makeSortable);
drawCharts();
