import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { createHooks, hooksFor } from '../../../core/hooks.ts';
import { redactionPlugin } from '../../../plugins/redaction/plugin.ts';
import { inventedSecrets } from '../../core/tool/invented-secrets.ts';

const token = inventedSecrets.find(([rule]) => rule === 'github-token')?.[1] ?? '';

function loaded() {
  const hooks = createHooks({ clock: systemClock, timeoutMs: 5000, report: () => {} });
  const context = { hooks: hooksFor(hooks, 'redaction') } as unknown as Parameters<
    typeof redactionPlugin.setup
  >[0];
  redactionPlugin.setup(context, undefined);
  hooks.artifact.redact.freeze();
  return hooks;
}

t.test('an artifact leaves the hook without its secrets, and says how many there were', async (t) => {
  const bytes = Buffer.from(`a ${token} b ${token}\n`);
  const answer = await loaded().artifact.redact.call({
    name: 'test-log',
    contentType: 'text/plain',
    bytes,
    redactions: 1,
  });
  t.equal(Buffer.from(answer.bytes).toString(), 'a [redacted:github-token] b [redacted:github-token]\n');
  t.equal(answer.redactions, 3);
  t.equal(answer.name, 'test-log');
});

t.test('an artifact without secrets leaves the hook unchanged', async (t) => {
  const artifact = {
    name: 'build-log',
    contentType: 'text/plain',
    bytes: Buffer.from('ok\n'),
    redactions: 0,
  };
  t.same(await loaded().artifact.redact.call(artifact), artifact);
});
