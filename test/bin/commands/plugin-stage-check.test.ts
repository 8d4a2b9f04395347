import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { stageCheckScaffold } from '../../../bin/plugin/scaffolds.ts';
import { makeSample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { say, writeScaffold } from './plugin-page.ts';

t.setTimeout(240_000);

t.test('the stage check plugin of `plugin new` passes its test', async (t) => {
  const sample = writeScaffold(t, 'linked-ticket', 'check.js', stageCheckScaffold('linked-ticket'));
  t.match(await say(sample, 'plugin', 'test', 'linked-ticket'), {
    code: 0,
    data: {
      parts: [{ kind: 'stage-check', name: 'linked-ticket', cases: 4, failures: [] }],
      needs: ['connects to linked-ticket.example', 'is handed the secret LINKED_TICKET_TOKEN'],
    },
  });
});

long('a stage check fails its test if it passes without an answer or is nondeterministic', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  t.match(await say(sample, 'plugin', 'new', 'stage-check', 'linked-ticket'), { code: 0 });
  const place = join(sample.root, 'linked-ticket/check.js');
  const text = readFileSync(place, 'utf8');
  for (const [from, to, found] of [
    [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a line of a source
      'if (!response.ok) throw new Error(`the ticket system answered ${response.status}`);\n  return response.json();',
      "return response.json().catch(() => ({ state: 'approved' }));",
      /without an answer, or with a failure.*expected an `error` or a failure, got a pass/,
    ],
    ["state === 'approved' ? []", "state === 'approved' || state ? []", /expected 1 finding\(s\), got 0/],
    [
      "severity: 'error', message",
      "severity: 'error', message: message + Date.now(), told",
      /twice|unknown field/,
    ],
    ['message, ...place })', 'message: message + Math.random(), ...place })', /asked twice/],
    ['/tickets/', '/ticket/', /tickets\/PAY-7/],
    ["severity: 'error'", "rule: 'secrets', severity: 'error'", /in the name of another/],
    [
      'const { state, frozen = [] } = await look(ticket, context);',
      "const { state, frozen = [] } = await look(ticket, context); patch.files.length = 0; if (frozen.length > 0) return [refused(context.secrets.LINKED_TICKET_TOKEN, { path: 'billing/price.js' })];",
      /without its secrets/,
    ],
  ] as const) {
    t.ok(text.includes(from), from);
    writeFileSync(
      place,
      text.replace(from, () => to),
    );
    const { code, error, data } = await say(sample, 'plugin', 'test', 'linked-ticket');
    t.match({ code, error }, { code: 1, error: { code: 'PLUGIN_TEST_FAILED' } }, to);
    t.match(data.parts[0].failures.join('\n'), found, to);
  }
});

t.test('a stage check without cases fails its test, and a built-in name is refused', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  t.match(await say(sample, 'plugin', 'new', 'stage-check', 'secrets'), {
    code: 129,
    error: { code: 'PLUGIN_INVALID' },
  });
  t.match(await say(sample, 'plugin', 'new', 'stage-check', 'linked-ticket'), { code: 0 });
  writeFileSync(join(sample.root, 'linked-ticket/cases.json'), '{}');
  const { data } = await say(sample, 'plugin', 'test', 'linked-ticket');
  t.match(data.parts[0].failures.join('\n'), /expected a case that passes/);
});
