import { readdirSync } from 'node:fs';
import t from 'tap';
import type { SandboxBackend } from '../../../core/interfaces/sandbox.ts';
import { bubblewrapSandbox } from '../../../plugins/sandbox/bubblewrap.ts';
import { unshareSandbox } from '../../../plugins/sandbox/unshare.ts';
import { openEgress } from '../../../workspace/egress/open-egress.ts';
import type { EgressPolicy } from '../../../workspace/egress/openings.ts';
import { openScene, outputOf } from '../../plugins/sandbox/sandbox-scene.ts';
import { casesOf } from '../../rooms/long.ts';
import { FakeOutside, origin, publicAddress } from './client.ts';

const policy: EgressPolicy = {
  all: false,
  openings: [[{ hosts: ['registry.example'], reason: 'packages' }]],
};

for (const [name, make] of casesOf({ bubblewrap: bubblewrapSandbox, unshare: unshareSandbox }, [
  'bubblewrap',
])) {
  t.test(`in a ${name} sandbox the proxy is the only way to the network`, async (t) => {
    const scene = openScene(t);
    const backend: SandboxBackend = make(scene.facts);
    const { works, reason } = await backend.probe();
    if (!works) {
      t.pass(`not on this machine: ${reason}`);
      return;
    }
    const { port, seen } = await origin(t);
    const outside = new FakeOutside();
    outside.names.set('registry.example', [publicAddress]);
    outside.ports.set(80, port);
    const egress = await openEgress(scene.root, { policy, outside });
    const script = `
curl -sS http://registry.example/from-curl; echo " $?"
node -e 'fetch("http://registry.example/from-node").then((r) => r.text()).then(console.log)'
curl -s -o /dev/null -w '%{http_code}\\n' http://other.example/
curl -s -o /dev/null -w '%{http_connect}\\n' https://other.example/
curl -s --noproxy '*' --connect-timeout 2 http://127.0.0.1:${port}/; echo "loopback $?"
curl -s -o /dev/null -w '%{http_code}\\n' http://127.0.0.1:${port}/ --noproxy ''
curl -s --noproxy '*' --connect-timeout 2 http://${publicAddress}/; echo "direct $?"
node -e 'require("dgram").createSocket("udp4").send("x", 53, "${publicAddress}", (e) => { console.log(e.code); process.exit(); })'
node -e 'require("dns").lookup("registry.example", (e) => console.log(e.code))'
node -e 'require("http").createServer((q, r) => r.end("mine")).listen(8080, async function () { console.log(await (await fetch("http://localhost:8080")).text()); this.close(); })'
`;
    const result = await scene.run(backend, script, { network: egress.network });
    t.strictSame(
      outputOf(result).split('\n'),
      ['hello 0', 'hello', '403', '403', 'loopback 7', '403', 'direct 7', 'ENETUNREACH', 'EAI_AGAIN', 'mine'],
      result.stderr.bytes.toString(),
    );
    t.equal(result.stderr.bytes.toString(), '');
    t.strictSame(
      seen.map(({ request }) => request.url),
      ['/from-curl', '/from-node'],
    );
    const uses = await egress.close();
    t.match(uses, [
      {
        host: 'registry.example',
        outcome: 'allowed',
        connections: 2,
        reasons: ['packages'],
        receivedBytes: 10,
      },
      { host: 'other.example', outcome: 'refused', why: 'not-listed', via: 'http' },
      { host: 'other.example', outcome: 'refused', why: 'not-listed', via: 'connect' },
      { host: '127.0.0.1', port, outcome: 'refused', why: 'not-listed' },
    ]);
    t.strictSame(readdirSync(scene.root).sort(), ['home', 'reports', 'workspace'], 'the socket went too');
  });

  t.test(`a ${name} sandbox without network access contains no trace of the proxy`, async (t) => {
    const scene = openScene(t);
    const backend = make(scene.facts);
    if (!(await backend.probe()).works) return;
    const result = await scene.run(
      backend,
      'ls /egress 2>/dev/null; env | grep -ci proxy; curl -s -x http://127.0.0.1:3128 http://registry.example/; echo $?',
    );
    t.equal(outputOf(result), '0\n7');
  });

  t.test(`a ${name} sandbox whose proxy has closed runs no command`, async (t) => {
    const scene = openScene(t);
    const backend = make(scene.facts);
    if (!(await backend.probe()).works) return;
    const egress = await openEgress(scene.root, { policy, outside: new FakeOutside() });
    await egress.close();
    await t.rejects(scene.run(backend, 'true', { network: egress.network }), { code: 'ENOENT' });
  });
}
