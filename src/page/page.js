"use strict";
// The page's only script: hands figures to plotly.js in the page's colours, and wires what sorts, filters, zooms and switches.
// Every number is in the page already; nothing is computed here but places on the screen.
(() => {
  const root = document.documentElement;
  const config = { displayModeBar: false, responsive: true, doubleClick: "reset", showTips: false };
  const specs = new Map();

  // ---- colours ----

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
  const colourOf = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();

  // "@c3" stands for a colour of the page, wherever a colour is meant.
  const coloured = (value, isColour) => {
    if (Array.isArray(value)) return value.map((one) => coloured(one, isColour));
    if (value && typeof value === "object") {
      const copy = {};
      for (const key of Object.keys(value)) copy[key] = coloured(value[key], isColour || /colors?(cale)?$/.test(key));
      return copy;
    }
    return isColour && typeof value === "string" && value[0] === "@" ? colourOf(value.slice(1)) : value;
  };

  const themed = (layout) => {
    const ink = colourOf("ink"), line = colourOf("line"), ground = colourOf("ground");
    const all = Object.assign({}, layout, {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: Object.assign({ family: getComputedStyle(document.body).fontFamily, size: 12 }, layout.font, { color: ink }),
      hoverlabel: { bgcolor: ground, bordercolor: line, align: "left", namelength: -1, font: { color: ink, size: 12 } },
    });
    for (const key of Object.keys(all)) {
      if (/^[xy]axis\d*$/.test(key)) {
        all[key] = Object.assign({ gridcolor: line, zerolinecolor: line, linecolor: line, tickcolor: line, automargin: true }, all[key]);
      }
    }
    return all;
  };

  // ---- figures ----

  const draw = (id) => {
    const { element, spec, view } = specs.get(id);
    const shown = spec.views[view];
    const narrow = element.parentElement.clientWidth < 520 ? spec.narrow : {};
    const layout = themed(coloured(Object.assign({}, spec.layout, shown.layout, narrow), false));
    return Plotly.react(element, coloured(shown.data, false), layout, config);
  };

  const drawAll = () => Promise.all([...specs.keys()].map(draw));

  const rangeOf = (id) => specs.get(id).element._fullLayout.xaxis.range.map(Number);

  for (const element of document.querySelectorAll(".plot")) {
    const id = element.dataset.figure;
    specs.set(id, { element, spec: JSON.parse(document.getElementById(id + "-spec").textContent), view: 0 });
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const id = button.dataset.for;
    if (button.dataset.view !== undefined) {
      specs.get(id).view = Number(button.dataset.view);
      for (const other of button.parentElement.children) other.setAttribute("aria-pressed", String(other === button));
      draw(id);
    } else if (button.dataset.zoom !== undefined) {
      const [from, to] = rangeOf(id), by = Number(button.dataset.zoom);
      const middle = (from + to) / 2, half = ((to - from) / 2) * by;
      const { element, spec, view } = specs.get(id);
      const whole = (spec.views[view].layout.xaxis || spec.layout.xaxis).range;
      Plotly.relayout(element, { "xaxis.range": by ? [middle - half, middle + half] : whole.slice() });
    } else if (button.dataset.pan !== undefined) {
      const [from, to] = rangeOf(id), by = (to - from) * Number(button.dataset.pan);
      Plotly.relayout(specs.get(id).element, { "xaxis.range": [from + by, to + by] });
    } else if (button.id === "theme") {
      root.dataset.theme = isDark() ? "light" : "dark";
      themeChanged();
    } else if (button.closest("th")) {
      sort(button.closest("th"));
    }
  });

  const themeChanged = () => {
    const button = document.getElementById("theme");
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", isDark() ? "Change to light" : "Change to dark");
    return drawAll();
  };
  dark.addEventListener("change", themeChanged);

  // ---- tables ----

  const sort = (head) => {
    const row = head.parentElement, at = [...row.children].indexOf(head);
    const body = head.closest("table").tBodies[0];
    const value = (line) => {
      const cell = line.cells[at];
      return cell.dataset.v === undefined ? cell.textContent : cell.dataset.v;
    };
    const lines = [...body.rows].filter((line) => !line.classList.contains("rest"));
    const numbers = lines.every((line) => value(line) === "" || !isNaN(value(line)));
    // Numbers begin with the largest.
    const down = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : numbers;
    const order = (a, b) => (numbers ? Number(a || -1) - Number(b || -1) : a.localeCompare(b));
    lines.sort((a, b) => (down ? order(value(b), value(a)) : order(value(a), value(b))));
    for (const other of row.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rest = body.querySelector(".rest");
    body.append(...lines, ...(rest ? [rest] : []));
  };

  document.addEventListener("input", (event) => {
    const input = event.target.closest(".filter input");
    if (!input) return;
    const grid = input.closest(".grid"), words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0, all = 0;
    for (const line of grid.querySelector("tbody").rows) {
      if (line.classList.contains("rest")) {
        line.hidden = words.length > 0;
        continue;
      }
      const text = line.textContent.toLowerCase();
      line.hidden = !words.every((word) => text.includes(word));
      all += 1;
      shown += line.hidden ? 0 : 1;
    }
    grid.querySelector(".shown").textContent = words.length ? shown + " of " + all + " rows" : all + " rows";
  });

  // ---- print ----

  // On paper: light, and as wide as the paper.
  const paper = { before: undefined };
  const printed = (on) => {
    if (on) {
      paper.before = root.dataset.theme;
      root.dataset.theme = "light";
    } else if (paper.before === undefined) delete root.dataset.theme;
    else root.dataset.theme = paper.before;
    for (const id of specs.keys()) {
      draw(id);
      const { element } = specs.get(id);
      if (on) Plotly.relayout(element, { width: 700, autosize: false });
      else Plotly.relayout(element, { width: undefined, autosize: true });
    }
  };
  addEventListener("beforeprint", () => printed(true));
  addEventListener("afterprint", () => printed(false));

  themeChanged().then(() => { root.dataset.ready = "yes"; });
})();
