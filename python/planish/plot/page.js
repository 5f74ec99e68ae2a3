"use strict";
// What the page does: data → traces of plotly.js, and its events → the lists beside the map.
// All text of the data is set as text, never as HTML; plotly.js, which reads a little HTML
// in names, gets it escaped.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const map = document.getElementById("map");
  const $ = (id) => document.getElementById(id);

  function decoded(text, Kind) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Kind(bytes.buffer);
  }
  const rows = decoded(data.rows, Int32Array); // position on the page -> row of the data
  const coordinates = data.coordinates.map((text) => decoded(text, Float64Array));
  const columns = data.columns.map((column) =>
    column.classes
      ? { ...column, codes: decoded(column.codes, Int32Array) }
      : { ...column, values: decoded(column.values, Float64Array) });
  const axes = data.axes.map((name, number) => ({ name, values: coordinates[number] }));
  if (axes.length === 1) axes.push({ name: "row", values: Float64Array.from(rows), own: true });
  const everything = Int32Array.from(rows.keys());
  const positionOf = new Map();
  rows.forEach((row, position) => positionOf.set(row, position));

  const webgl = (() => {
    try { return Boolean(document.createElement("canvas").getContext("webgl")); } catch { return false; }
  })();
  if (!webgl) $("notice").textContent = "This browser has no WebGL: many points are slow to draw.";

  const escaped = (text) => String(text)
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const shown = (number) => Number.isFinite(number) ? String(Number(number.toPrecision(6))) : "–";

  // ---- menus ----------------------------------------------------------------------
  function fill(menu, names, chosen) {
    names.forEach((name, number) => menu.add(new Option(name, String(number), false, number === chosen)));
  }
  fill($("color"), [...columns.map((column) => column.name), "nothing"], 0);
  fill($("x"), axes.map((axis) => axis.name), 0);
  fill($("y"), axes.map((axis) => axis.name), 1);
  if (axes.length === 2) document.querySelectorAll(".axis").forEach((label) => { label.hidden = true; });

  // ---- traces ---------------------------------------------------------------------
  let members = []; // for each trace the positions of its points
  let selection = new Set(); // positions
  let drawn = 0, drawing = false;
  const size = Math.max(2.5, Math.min(8, 600 / Math.sqrt(rows.length)));
  const picked = (values, positions) =>
    positions === everything ? values : Float64Array.from(positions, (position) => values[position]);

  function groups() {
    const column = columns[Number($("color").value)];
    if (!column) return [{ positions: everything, marker: { color: data.plain } }];
    return column.classes ? classGroups(column) : valueGroups(column);
  }

  function valueGroups(column) {
    const known = [], missing = [];
    column.values.forEach((value, position) => (Number.isFinite(value) ? known : missing).push(position));
    const positions = missing.length ? Int32Array.from(known) : everything;
    const found = [{
      positions,
      marker: {
        color: picked(column.values, positions), colorscale: "Viridis",
        showscale: true, colorbar: { title: { text: escaped(column.name) }, thickness: 16 },
      },
    }];
    if (missing.length) {
      found.push({ positions: Int32Array.from(missing), marker: { color: data.missing }, name: "no value" });
    }
    return found;
  }

  function classGroups(column) {
    const lists = column.classes.map(() => []), missing = [];
    column.codes.forEach((code, position) => (code < 0 ? missing : lists[code]).push(position));
    // As many classes as there are looks; the smallest ones are drawn as one.
    const looks = data.palette.length * data.symbols.length;
    const order = lists.map((_, code) => code).filter((code) => lists[code].length);
    const largest = new Set(
      [...order].sort((a, b) => lists[b].length - lists[a].length).slice(0, looks - 1));
    const kept = order.length <= looks ? order : order.filter((code) => largest.has(code));
    const others = order.length <= looks ? [] : order.filter((code) => !largest.has(code));
    const found = [];
    if (missing.length) {
      found.push({ positions: Int32Array.from(missing), marker: { color: data.missing }, name: "no class" });
    }
    if (others.length) {
      const positions = Int32Array.from(others.flatMap((code) => lists[code])).sort();
      found.push({ positions, marker: { color: data.missing }, name: `${others.length} other classes` });
    }
    for (const code of kept) {
      const look = order.length <= looks ? code : kept.indexOf(code);
      found.push({
        positions: Int32Array.from(lists[code]), name: column.classes[code],
        marker: {
          color: data.palette[look % data.palette.length],
          symbol: data.symbols[Math.floor(look / data.palette.length) % data.symbols.length],
        },
      });
    }
    return found;
  }

  function traces() {
    const [x, y] = [axes[Number($("x").value)], axes[Number($("y").value)]];
    const found = groups();
    members = found.map((group) => group.positions);
    return found.map((group) => ({
      type: webgl ? "scattergl" : "scatter",
      mode: "markers",
      x: picked(x.values, group.positions),
      y: picked(y.values, group.positions),
      name: group.name === undefined ? "" : `${escaped(group.name)} (${group.positions.length})`,
      marker: { size, opacity: 0.85, line: { width: 0 }, ...group.marker },
      hoverinfo: "none",
      selectedpoints: selection.size ? selectedIn(group.positions) : null,
      selected: { marker: { opacity: 1 } },
      unselected: { marker: { opacity: 0.15 } },
    }));
  }

  function selectedIn(positions) {
    const found = [];
    positions.forEach((position, number) => { if (selection.has(position)) found.push(number); });
    return found;
  }

  function layout() {
    const [x, y] = [axes[Number($("x").value)], axes[Number($("y").value)]];
    const equal = !x.own && !y.own;
    const line = { gridcolor: "#e6e8eb", zerolinecolor: "#d0d4d9" };
    return {
      margin: { l: 60, r: 20, t: 16, b: 50 },
      font: { family: "system-ui, sans-serif", size: 13, color: "#1f2328" },
      hovermode: "closest",
      hoverdistance: 12,
      dragmode: document.querySelector("input[name=drag]:checked").value,
      showlegend: columns[Number($("color").value)]?.classes !== undefined,
      legend: { itemsizing: "constant" },
      uirevision: `${$("x").value} ${$("y").value}`,
      selections: [],
      selectionrevision: drawn,
      xaxis: { ...line, title: { text: escaped(x.name) } },
      yaxis: { ...line, title: { text: escaped(y.name) }, ...(equal ? { scaleanchor: "x" } : {}) },
    };
  }

  const config = { displayModeBar: false, scrollZoom: true, responsive: true, doubleClick: "reset" };
  async function draw() {
    drawn += 1; // what plotly.js remembers of an earlier selection is not kept
    drawing = true; // it reports the selection it drops as if the reader had
    await Plotly.react(map, traces(), layout(), config);
    // The handles of a lasso's corners, which plotly.js leaves where its outline was.
    map.querySelectorAll(".outline-controllers").forEach((handles) => handles.remove());
    drawing = false;
  }

  // ---- the view -------------------------------------------------------------------
  const ranges = () => ["xaxis", "yaxis"].map((axis) => [...map._fullLayout[axis].range]);
  function view(scale, right, up) {
    const moved = ranges().map(([low, high], axis) => {
      const middle = (low + high) / 2 + (high - low) * (axis ? up : right);
      return [middle - scale * (high - low) / 2, middle + scale * (high - low) / 2];
    });
    return Plotly.relayout(map, { "xaxis.range": moved[0], "yaxis.range": moved[1] });
  }
  const wholeMap = () => Plotly.relayout(map, { "xaxis.autorange": true, "yaxis.autorange": true });
  const keys = {
    ArrowLeft: () => view(1, -0.1, 0), ArrowRight: () => view(1, 0.1, 0),
    ArrowUp: () => view(1, 0, 0.1), ArrowDown: () => view(1, 0, -0.1),
    "+": () => view(0.8, 0, 0), "=": () => view(0.8, 0, 0), "-": () => view(1.25, 0, 0),
    0: wholeMap,
  };

  // ---- one row --------------------------------------------------------------------
  const sheets = new Map();
  function thumbnail(position) {
    const { width, height, across, sheet, pictures } = data.images;
    const canvas = document.createElement("canvas");
    const scale = Math.max(1, Math.round(96 / Math.max(width, height)));
    canvas.className = "thumbnail";
    canvas.width = width * scale;
    canvas.height = height * scale;
    const number = Math.floor(position / sheet), place = position % sheet;
    if (!sheets.has(number)) {
      const image = new Image();
      image.src = `data:image/png;base64,${pictures[number]}`;
      sheets.set(number, image);
    }
    const image = sheets.get(number);
    const paint = () => {
      const context = canvas.getContext("2d");
      context.imageSmoothingEnabled = false;
      context.drawImage(
        image, (place % across) * width, Math.floor(place / across) * height, width, height,
        0, 0, canvas.width, canvas.height);
      canvas.dataset.painted = "true";
    };
    if (image.complete) paint(); else image.addEventListener("load", paint);
    return canvas;
  }

  function describe(position, into) {
    const list = document.createElement("dl");
    const add = (name, value) => {
      const term = document.createElement("dt"), definition = document.createElement("dd");
      term.textContent = name;
      definition.textContent = value;
      list.append(term, definition);
    };
    add("row", String(rows[position]));
    for (const column of columns) {
      if (column.classes) add(column.name, column.classes[column.codes[position]] ?? "–");
      else add(column.name, shown(column.values[position]));
    }
    data.axes.forEach((name, number) => add(name, shown(coordinates[number][position])));
    into.replaceChildren(...(data.images ? [thumbnail(position)] : []), list);
  }

  function hover(event) {
    const point = event.points[0];
    const box = $("hover");
    describe(members[point.curveNumber][point.pointIndex ?? point.pointNumber], box);
    box.hidden = false;
    const { clientX: left, clientY: top } = event.event;
    const beside = left + 18 + box.offsetWidth > innerWidth ? left - 14 - box.offsetWidth : left + 14;
    box.style.left = `${Math.max(0, beside)}px`;
    box.style.top = `${Math.max(0, Math.min(top + 14, innerHeight - box.offsetHeight - 4))}px`;
  }

  // ---- the selection --------------------------------------------------------------
  function select(positions) {
    selection = new Set(positions);
    const list = [...selection].sort((a, b) => a - b).map((position) => rows[position]);
    $("rows").value = list.join(", ");
    $("count").textContent = list.length
      ? `${list.length} of ${rows.length} rows.`
      : "None. Drag with “lasso” or “box”, or select what is in view.";
    for (const id of ["copy", "download", "clear"]) $(id).disabled = !list.length;
  }
  const positionsOf = (points) =>
    points.map((point) => members[point.curveNumber][point.pointIndex ?? point.pointNumber]);

  function inView() {
    const [across, up] = ranges();
    const [x, y] = [axes[Number($("x").value)].values, axes[Number($("y").value)].values];
    const inside = (value, [low, high]) => value >= Math.min(low, high) && value <= Math.max(low, high);
    select(Array.from(everything).filter((p) => inside(x[p], across) && inside(y[p], up)));
    return draw();
  }

  async function copy() {
    const text = $("rows").value;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      $("rows").select();
      document.execCommand("copy");
    }
    $("notice").textContent = `${selection.size} row numbers copied.`;
  }

  function download() {
    const text = `${$("rows").value.replaceAll(", ", "\n")}\n`;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    link.download = "rows.txt";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // ---- what happens when ----------------------------------------------------------
  function listen() {
    map.on("plotly_hover", hover);
    map.on("plotly_unhover", () => { $("hover").hidden = true; });
    let adds = false;
    map.addEventListener("pointerdown", (event) => { adds = event.shiftKey; }, true);
    map.on("plotly_selected", (event) => {
      if (!event || drawing) return;
      select([...(adds ? selection : []), ...positionsOf(event.points)]);
      // Without the outline, which would lie over the points and keep the pointer from them.
      setTimeout(draw);
    });
    map.on("plotly_deselect", () => {
      if (drawing) return;
      select([]);
      setTimeout(draw);
    });
    map.addEventListener("keydown", (event) => {
      const act = keys[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
    for (const id of ["color", "x", "y"]) $(id).addEventListener("change", draw);
    document.querySelectorAll("input[name=drag]").forEach((choice) =>
      choice.addEventListener("change", () => Plotly.relayout(map, { dragmode: choice.value })));
    $("in").addEventListener("click", () => view(0.8, 0, 0));
    $("out").addEventListener("click", () => view(1.25, 0, 0));
    $("reset").addEventListener("click", wholeMap);
    $("save").addEventListener("click", () =>
      Plotly.downloadImage(map, { format: "png", filename: "map", scale: 2 }));
    $("in-view").addEventListener("click", inView);
    $("copy").addEventListener("click", copy);
    $("download").addEventListener("click", download);
    $("clear").addEventListener("click", () => { select([]); draw(); });
    $("controls").addEventListener("submit", (event) => event.preventDefault());
    $("find").addEventListener("submit", (event) => {
      event.preventDefault();
      const position = positionOf.get(Number($("row").value));
      if ($("row").value === "" || position === undefined) {
        $("details").textContent = "There is no such row on the map.";
      } else {
        describe(position, $("details"));
      }
    });
  }

  Plotly.newPlot(map, traces(), layout(), config).then(() => {
    listen();
    map.dataset.ready = "true";
  });
})();
