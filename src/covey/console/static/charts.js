// Draws the charts of a page from the data beside them, and again when that changes, or the theme does.

const drawn = new Map();

function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000, 1_000_000]; // what is counted has no halves
const SPANS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400, 172_800];
const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

function span(seconds) {
  if (seconds < 1) return seconds ? `${short.format(seconds * 1000)} ms` : "0";
  for (const [size, unit] of [[86_400, "d"], [3_600, "h"], [60, "min"]]) if (seconds >= size) return `${short.format(seconds / size)} ${unit}`;
  return `${short.format(seconds)} s`;
}

function said(value, unit) {
  if (value == null) return "–";
  if (unit === "s") return span(value);
  return unit === "$" ? `$${short.format(value)}` : `${short.format(value)}${unit}`;
}

// from zero on, and to a hundred where shares are drawn
function heights(look) {
  return (_, low, high) => (look === "shares" ? [0, 100] : high > 0 ? [0, uPlot.rangeNum(0, high, 0.1, true)[1]] : [0, 1]);
}

function lookOf(look, place, several) {
  const stroke = color(`--chart-${place + 1}`);
  if (look !== "bars") return { stroke, width: 2, spanGaps: true, points: { show: true, size: 4 }, dash: place ? [6, 3] : undefined }; // told apart without colour too
  const align = several ? (place ? 1 : -1) : 0;
  return { stroke, width: 1, fill: place ? undefined : stroke, points: { show: false }, paths: uPlot.paths.bars({ size: [several ? 0.4 : 0.7, 24, 2], align }) };
}

function options(element, source) {
  const axis = { stroke: color("--quiet"), grid: { stroke: color("--pico-muted-border-color"), width: 1 }, ticks: { show: false } };
  const { unit, look } = source.dataset;
  const labels = source.dataset.series.split("|");
  const value = (_, v) => said(v, unit);
  return {
    width: Math.max(240, element.clientWidth),
    height: 220,
    scales: { y: { range: heights(look) } },
    axes: [
      { ...axis, size: 32 },
      { ...axis, size: 60, incrs: unit === "s" ? SPANS : unit ? undefined : WHOLE, values: (_, ticks) => ticks.map((tick) => said(tick, unit)) },
    ],
    series: [{}, ...labels.map((label, place) => ({ label, value, ...lookOf(look, place, labels.length > 1) }))],
  };
}

// times as the rest of the page has them: in its zone, without noon and midnight
function zoned(made) {
  const timeZone = localStorage.getItem("covey-utc") === "1" ? "UTC" : undefined;
  const clock = new Intl.DateTimeFormat("sv-SE", { timeStyle: "short", timeZone });
  const day = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short", timeZone });
  made.tzDate = (at) => (timeZone ? uPlot.tzDate(new Date(at * 1000), "Etc/UTC") : new Date(at * 1000));
  made.axes[0].values = (chart, ticks) => {
    const long = chart.scales.x.max - chart.scales.x.min > 86_400;
    return ticks.map((at) => (long ? day : clock).format(at * 1000));
  };
  made.series[0].value = (_, at) => (at == null ? "–" : day.format(at * 1000));
  return made;
}

function draw(source, anew = false) {
  const element = document.getElementById(source.dataset.chart);
  if (!element || !window.uPlot) return;
  const data = JSON.parse(source.dataset.points);
  const known = drawn.get(source.dataset.chart);
  if (known && known.root.isConnected && !anew) {
    known.setData(data);
    return;
  }
  known?.destroy();
  drawn.set(source.dataset.chart, new uPlot(zoned(options(element, source)), data, element));
}

function all(anew) {
  for (const source of document.querySelectorAll("[data-chart]")) draw(source, anew);
}

let wait = null;
addEventListener("resize", () => {
  clearTimeout(wait);
  wait = setTimeout(() => all(true), 200);
});
document.addEventListener("htmx:after:swap", () => all(false));
document.addEventListener("covey:theme", () => all(true));
document.addEventListener("covey:zone", () => all(true));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => all(true));
if (document.readyState === "complete") all(false);
else addEventListener("load", () => all(false));
