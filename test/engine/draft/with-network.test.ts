import t from 'tap';
import { withNetwork } from '../../../engine/draft/draft-intent.ts';

const read = { tool: 'workspace.fs', actions: ['read'] };
const search = { tool: 'web.search', actions: ['search'] };

const spec = (networkPolicy: string, allow: readonly object[], deny: readonly object[] = []) =>
  Buffer.from(
    JSON.stringify({
      constraints: { security: { networkPolicy } },
      security: { toolAcl: { allow, deny }, approval: 'kept' },
    }),
  );
const rulesOf = (bytes: Uint8Array) => JSON.parse(Buffer.from(bytes).toString()).security.toolAcl.allow;

t.test('a spec whose network a person allows lets the model search the web', async (t) => {
  const opened = withNetwork(spec('deny', [read]), 'allow');
  t.match(JSON.parse(Buffer.from(opened).toString()), {
    constraints: { security: { networkPolicy: 'allow' } },
    security: { approval: 'kept' },
  });
  t.strictSame(rulesOf(opened), [read, search]);
  t.strictSame(rulesOf(withNetwork(spec('allow', [read]), 'allow')), [read, search], 'drafted as allowed');
  t.equal(withNetwork(opened, 'allow'), opened, 'the same bytes once it says so');
  t.strictSame(rulesOf(withNetwork(opened, 'deny')), [read], 'and the rule goes with the network');

  const own = {
    tool: 'web.search',
    actions: ['search', 'read'],
    constraints: { networkHosts: ['x.example'] },
  };
  t.strictSame(
    rulesOf(withNetwork(spec('deny', [read, own]), 'allow')),
    [read, own],
    'a rule of its own stays',
  );
  t.strictSame(rulesOf(withNetwork(spec('allow', [read, own]), 'deny')), [read, own]);
  const denied = spec('deny', [read], [{ tool: 'web.*', actions: ['*'] }]);
  t.strictSame(rulesOf(withNetwork(denied, 'allow')), [read], 'a deny rule decides');
  const closed = spec('deny', [read, search]);
  t.equal(withNetwork(closed, 'deny'), closed);
});
