import { long } from '../../rooms/long.ts';
import { openCodeScene } from './open-code-scene.ts';
import { noPty, type TerminalScene } from './open-terminal-scene.ts';

/** What a page on the session's own address asks of it. */
function pageOf(scene: TerminalScene) {
  const [base = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(scene.lines().join('')) ?? [];
  return async (path: string, body?: unknown, token = '') => {
    const answer = await fetch(`${base}/api/code/${path}`, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers: { 'content-type': 'application/json', origin: base, 'x-code-controller-token': token },
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, never> };
  };
}

long(
  'the terminal controls the session first, shows a browser attach and reclaims the session',
  { skip: noPty },
  async (t) => {
    await using code = await openCodeScene([], '--browser-control', 'loopback');
    await using scene = code.start();
    await scene.until('you steer');
    await scene.until(/http:\/\/127\.0\.0\.1:\d+/);
    const ask = pageOf(scene);
    t.match(
      (await ask('session')).body,
      { controller: { kind: 'tui', canWrite: true } },
      'the first one is the screen',
    );

    const taken = await ask('controller/attach', { clientId: 'page', kind: 'browser' });
    t.equal(taken.status, 200, 'which is no wall to a page that is let in');
    const token = String(taken.body.controllerToken);
    await scene.until('browser page steers · Ctrl+T takes it back');
    scene.type('/network allow');
    scene.press('enter');
    await scene.until('browser steers the session: Ctrl+T takes it back');
    await scene.until('> /network allow');
    scene.press('ctrl+u');
    t.match(await ask('messages', { text: '!echo from the page' }, token), { status: 200 });
    await scene.until('> !echo from the page');
    await scene.until(/ {2}from the page\n/);

    scene.press('ctrl+t');
    await scene.until('the session is yours again, not that of browser page');
    await scene.until('you steer');
    scene.type('/control reclaim');
    scene.press('enter');
    await scene.until('the session is yours already');
    t.match((await ask('session')).body, { controller: { kind: 'tui', canWrite: true } });
    t.match(await ask('messages', { text: '/network allow' }, token), {
      status: 403,
      body: { error: { code: 'INVALID_CONTROLLER_TOKEN' } },
    });
    scene.type('!echo from here');
    scene.press('enter');
    await scene.until(/ {2}from here\n/);
  },
);
