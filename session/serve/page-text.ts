/** A value in a page of ours: an address, a version, a commit. Whatever else stands in one is left out. */
export function pageText(value: string): string {
  return value.replace(/[^\w.:+[\] -]/g, '').slice(0, 100);
}

/** A page that stands by itself: no script, nothing that is loaded. `body` is HTML. */
export function plainPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}code{font-size:.9em}</style>
<h1>${title}</h1>
${body}
</html>
`;
}
