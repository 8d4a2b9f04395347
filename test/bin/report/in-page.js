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

/** WCAG 2 contrast of every element that holds text of its own. */
function contrasts() {
  const channels = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const linear = (one) => (one / 255 <= 0.03928 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
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
    .map((one) => {
      const [high, low] = [luminance(channels(getComputedStyle(one).color)), luminance(background(one))].sort(
        (a, b) => b - a,
      );
      return { text: one.textContent.slice(0, 40), ratio: (high + 0.05) / (low + 0.05) };
    });
}
