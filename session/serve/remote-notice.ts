/** A value in a page of ours: an address, a version, a commit. Whatever else stands in one is left out. */
function pageText(value: string): string {
  return value.replace(/[^\w.:+[\] -]/g, '').slice(0, 100);
}

/** A page that stands by itself: no script, nothing that is loaded. `body` is HTML. */
function plainPage(title: string, body: string): string {
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

export interface NoticeFacts {
  /** Address that the server listens on. */
  readonly bind: string;
  readonly version: string;
  readonly commit: string;
}

/** What a browser on another machine is shown instead of the session (document 2, Endpoints, rule 2). */
export function remoteNotice({ bind, version, commit }: NoticeFacts): (remote: string) => string {
  return (remote) =>
    plainPage(
      'Only on that machine',
      `<p>A session of <code>writ code</code> is served here, only to the machine that it runs on.</p>
<p>To see it from yours, forward its port (<code>ssh -L</code>) and open the forwarded address.</p>
<dl><dt>It listens on</dt><dd><code>${pageText(bind)}</code></dd>
<dt>You come from</dt><dd><code>${pageText(remote)}</code></dd>
<dt>Version</dt><dd><code>${pageText(version)}</code></dd>
<dt>Commit</dt><dd><code>${pageText(commit)}</code></dd></dl>`,
    );
}
