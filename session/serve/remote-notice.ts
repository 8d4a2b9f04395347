import { pageText, plainPage } from './page-text.ts';

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
      `<p>A session of <code>writ code</code> is served here, to the machine that it runs on and to nobody else.</p>
<p>To see it from yours, forward its port (<code>ssh -L</code>) and open the forwarded address.</p>
<dl><dt>It listens on</dt><dd><code>${pageText(bind)}</code></dd>
<dt>You come from</dt><dd><code>${pageText(remote)}</code></dd>
<dt>Version</dt><dd><code>${pageText(version)}</code></dd>
<dt>Commit</dt><dd><code>${pageText(commit)}</code></dd></dl>`,
    );
}
