// biome-ignore-all lint/correctness/noUnusedVariables: called by the expression that is evaluated with it.
/* Functions that the browser tests evaluate inside the page. */

const ours =
  'HTML HEAD META TITLE STYLE BODY DIV HEADER SPAN STRONG CODE BDI TIME MAIN SECTION H1 H2 H3 P DL DT DD NAV UL LI A DETAILS SUMMARY TABLE COLGROUP COL THEAD TBODY TR TH TD BR svg rect PRE FOOTER'.split(
    ' ',
  );

function look() {
  return {
    scrollWidth: document.documentElement.scrollWidth,
    decisionTop: document.getElementById('decision').getBoundingClientRect().top,
    headings: [...document.querySelectorAll('h1,h2,h3')].map((one) => one.tagName),
    pwned: globalThis.pwned,
    foreign: [...document.querySelectorAll('*')]
      .map((one) => one.tagName)
      .filter((tag) => !ours.includes(tag)),
  };
}

const channels = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);

/** WCAG 2 contrast of two colours. */
function contrastOf(one, other) {
  const linear = (part) =>
    part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

/** Of every element that holds text of its own. */
function contrasts() {
  const background = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const found = channels(getComputedStyle(at).backgroundColor);
      if ((found[3] ?? 1) > 0) return found;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll('body *')]
    .filter((one) =>
      [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== ''),
    )
    .map((one) => ({
      text: one.textContent.slice(0, 40),
      ratio: contrastOf(channels(getComputedStyle(one).color), background(one)),
    }));
}

/** Of every text of a drawing, on the shape that it stands in. */
function drawnContrasts() {
  const fillOf = (element) => channels(getComputedStyle(element).fill);
  return [...document.querySelectorAll('svg .node text')].map((one) => ({
    text: one.textContent.slice(0, 40),
    ratio: contrastOf(fillOf(one), fillOf(one.parentElement.querySelector('rect'))),
  }));
}
