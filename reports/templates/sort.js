// A click on a column's head, or Enter there, sorts the table by it; a second one turns the order.
const language = document.documentElement.lang;
const compare = new Intl.Collator(language, { numeric: true }).compare;
const [thousands, point] = language === "it" ? [".", ","] : [",", "."];
function read(cell) {
  const text = cell.firstChild ? cell.firstChild.textContent.trim() : "";
  if (!cell.classList.contains("number")) return text;
  const number = parseFloat(text.replaceAll(thousands, "").replace(point, ".").replace("−", "-"));
  return Number.isNaN(number) ? -Infinity : number;
}
function sort(head) {
  const up = head.getAttribute("aria-sort") !== "ascending";
  const body = head.closest("table").tBodies[0];
  const rows = [...body.rows].map(row => [read(row.cells[head.cellIndex]), row]);
  rows.sort(([a], [b]) => (up ? 1 : -1) * (typeof a === "number" ? (a === b ? 0 : a - b) : compare(a, b)));
  body.append(...rows.map(([, row]) => row));
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
}
for (const head of document.querySelectorAll("thead th")) {
  head.tabIndex = 0;
  head.addEventListener("click", () => sort(head));
  head.addEventListener("keydown", event => { if (event.key === "Enter") sort(head); });
}
