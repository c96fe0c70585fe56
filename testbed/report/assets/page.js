// Sort a table by a click on a heading; filter its rows by typing.
function prepareTables() {
  document.querySelectorAll(".table").forEach(prepareTable);
}

function prepareTable(box) {
  const table = box.querySelector("table");
  const body = table.tBodies[0];
  const headings = [...table.querySelectorAll("th")];
  const value = (cell) => (cell.dataset.v === undefined ? cell.textContent : parseFloat(cell.dataset.v));

  headings.forEach((heading, column) => {
    heading.querySelector("button").addEventListener("click", () => {
      const ascending = heading.getAttribute("aria-sort") !== "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      const order = (r, s) => {
        const [a, b] = [value(r.cells[column]), value(s.cells[column])];
        return (a < b ? -1 : a > b ? 1 : 0) * (ascending ? 1 : -1);
      };
      body.append(...[...body.rows].sort(order));
    });
  });

  box.querySelector("input")?.addEventListener("input", (event) => {
    const wanted = event.target.value.toLowerCase();
    for (const row of body.rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
}

prepareTables();
