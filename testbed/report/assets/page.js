// Sort a table by a click on a heading, filter its rows by typing, copy a command.
function prepareTables() {
  document.querySelectorAll(".table").forEach(prepareTable);
  document.querySelectorAll(".command button").forEach(prepareCopy);
}

function prepareTable(box) {
  const table = box.querySelector("table");
  const body = table.tBodies[0];
  const headings = [...table.querySelectorAll("thead th")];
  const value = (cell) => (cell.dataset.v === undefined ? cell.textContent : parseFloat(cell.dataset.v));
  // Numbers by size, texts as people count (B2 before B10); what is missing comes last, whichever the order.
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
  };

  headings.forEach((heading, column) => {
    heading.querySelector("button")?.addEventListener("click", () => {
      const ascending = heading.getAttribute("aria-sort") !== "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      const missing = (row) => row.cells[column].dataset.missing !== undefined;
      const order = (r, s) => {
        if (missing(r) || missing(s)) return missing(r) - missing(s);
        return compare(value(r.cells[column]), value(s.cells[column])) * (ascending ? 1 : -1);
      };
      body.append(...[...body.rows].sort(order));
    });
  });

  const input = box.querySelector("input");
  const told = box.querySelector("output");
  const filter = () => {
    const wanted = input.value.toLowerCase();
    let shown = 0;
    for (const row of body.rows) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      shown += !row.hidden;
    }
    if (told) told.textContent = wanted ? `${shown} of ${body.rows.length} rows` : `${body.rows.length} rows`;
  };
  input?.addEventListener("input", filter);
}

function prepareCopy(button) {
  if (!navigator.clipboard) return void button.remove(); // a page from a file has none in some browsers
  button.addEventListener("click", async () => {
    const text = button.parentElement.querySelector("code").textContent;
    await navigator.clipboard.writeText(text).then(
      () => (button.textContent = "copied"),
      () => (button.textContent = "not allowed here"),
    );
  });
}

prepareTables();
