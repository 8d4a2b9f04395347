import type { Route } from '../../http/route.ts';
import { sendPage } from '../../http/send-page.ts';
import { plainPage } from './page-text.ts';

const page = plainPage(
  'writ code',
  `<p>This session is served, and has no page yet: programs read and steer it through its API.</p>
<ul>
<li><a href="/api/code/session"><code>GET /api/code/session</code></a>: the session as it is now</li>
<li><a href="/api/code/diagnostics"><code>GET /api/code/diagnostics</code></a>: what it runs on</li>
<li><code>POST /api/code/controller/attach</code>: take control, where the session was started so</li>
</ul>
<p>All routes: <code>docs/code.md</code>.</p>`,
);

/** What a browser of this machine is shown at `/`. */
export const startPage: Route = {
  method: 'GET',
  path: '/',
  isPage: true,
  answer: ({ response }) => sendPage(response, page),
};
