import { type Guard, within } from './guard.ts';

const processes = 'test/engine/plugin-trust/process/plugin-process.test.ts';

const hostile = 'test/engine/plugin-trust/parts/hostile-provider.test.ts';
const hostileCheck = 'test/engine/plugin-trust/parts/hostile-stage-check.test.ts';
const askedChecks = 'test/engine/run/judge/ask-stage-checks.test.ts';
const checkRuns = 'test/engine/plugin-trust/parts/stage-check-runs.test.ts';
const packs = 'test/bin/commands/plugin-pack.test.ts';
const shown = 'test/engine/plugin-trust/shown-plugins.test.ts';
const logs = 'test/engine/plugin-trust/parts/log-runs.test.ts';
const runs = 'test/engine/plugin-trust/parts/provider-runs.test.ts';

/** What a plugin's process may do to us: nothing but fail. */
export const guards: readonly Guard[] = [
  ...within('engine/plugin-trust/process/frames.ts', processes, [
    [
      'prototypes in answers',
      '  refusePrototypes(value);\n',
      '',
      'a plugin that answers with a prototype is a fault with its name',
    ],
  ]),
  ...within('engine/tool/line-cutter.ts', processes, [
    [
      'lines without end',
      'if (held > maxBytes) throw',
      'if (held < 0) throw',
      'a plugin that answers with a line that does not end is a fault with its name',
    ],
  ]),
  ...within('engine/plugin-trust/process/open-call.ts', processes, [
    [
      'answers beyond their bound',
      '      if (bytes > maxBytes) throw',
      '      if (bytes < 0) throw',
      'a plugin that answers with more than it may is a fault with its name',
    ],
    [
      'secrets in what is thrown',
      'withoutHanded(withObstacles(message, obstacles()), secrets)',
      'withObstacles(message, obstacles())',
      'what is thrown inside is told with its facts, and without what was handed over',
    ],
  ]),
  ...within('engine/plugin-trust/process/plugin-process.ts', processes, [
    [
      'answers that nobody waits for',
      "    if (call === undefined) throw new TypeError('expected an answer to a call that is open');",
      '    if (call === undefined) return;',
      'a plugin that answers calls that nobody made is a fault with its name',
    ],
    [
      'a call that goes on after it was cancelled',
      "      opened.expire(graceMs, () => end('deadline', 'it did not end a call that was cancelled'));",
      '',
      'a plugin that does not end what was cancelled is ended',
    ],
    [
      'a process without a sandbox',
      '  if (ground.sandbox.unconfined)',
      '  if (ground.plugin === "")',
      'without a sandbox that holds it back it does not run',
    ],
  ]),
  ...within('engine/plugin-trust/process/outsider-box.ts', processes, [
    [
      'writing and starting processes',
      "      '--permission',\n      ...readable,\n",
      '',
      'a plugin reads, writes, connects to and starts nothing beyond its own',
    ],
  ]),
  ...within('engine/plugin-trust/parts/parse-model-event.ts', hostile, [
    [
      'replies without an end',
      "      if (!ended) throw new TypeError('expected `end`, the reply has none');",
      '',
      'a provider that ends without an end gives no reply',
    ],
    [
      'events after the end',
      "      if (ended) throw new TypeError('expected `end` to be the last event');",
      '',
      'a provider that goes on after its end gives no reply',
    ],
    [
      'calls under one id',
      '        if (ids.has(event.call.id)) throw',
      '        if (ids.has("")) throw',
      'a provider that calls twice under one id gives no reply',
    ],
  ]),
  ...within('engine/plugin-trust/parts/outside-provider.ts', runs, [
    [
      'bases at hosts that are not declared',
      '      if (!opensHost(ground.hosts, setting.base))',
      '      if (setting.base === "")',
      'what cannot be asked stops the run before any work',
    ],
  ]),
  ...within('engine/plugin-trust/process/start-talk.ts', hostile, [
    [
      'hosts that are not declared',
      'policy: { all: false, openings',
      'policy: { all: true, openings',
      'a provider reaches the hosts that it declares, and no other',
    ],
  ]),
  ...within('engine/plugin-trust/parts/outside-stage-check.ts', hostileCheck, [
    [
      'findings of a stage check in the name of a rule',
      '  if (foreign !== undefined)',
      "  if (name === '')",
      'a stage check that speaks in the name of a rule gives no answer',
    ],
    [
      'answers of a stage check in no form',
      '  return parseFindings(named);',
      '  return named as unknown as readonly Finding[];',
      'a stage check that makes severities up gives no answer',
    ],
  ]),
  ...within('engine/run/judge/ask-stage-checks.ts', askedChecks, [
    [
      'stage checks that give no answer',
      '      else return [noAnswer(check, input.stage, String(reason), messageOf(fault), tries)];',
      '      else return [];',
      'a process that breaks is asked again, one that lies or hangs is not',
    ],
    [
      'diffs that are too large to be judged',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a line of a source
      "            ? [noAnswer(one, stage.stage, 'input-too-large', `a diff of more than ${maxDiffBytes} bytes`, 0)]",
      '            ? []',
      'one that reads a diff larger than it may be handed is not asked, and refuses',
    ],
    [
      'what a stage check is told',
      'redactTexts(stageCheckInput(attempt, stage, before), policy)',
      'stageCheckInput(attempt, stage, before)',
      'it is told what stands there, and what it tells is kept, without what may not be written',
    ],
    [
      'the diff that a stage check is told',
      'redactTexts(diffText(attempt.patch), policy)',
      'diffText(attempt.patch)',
      'it is told what stands there, and what it tells is kept, without what may not be written',
    ],
    [
      'a stage check that passed and left no trace',
      "status: isRefused ? 'failed' : 'passed'",
      "status: 'passed'",
      'whoever was asked is named with its plugin and what it came to, a pass too',
    ],
    [
      'what a stage check tells',
      'return redactTexts(found, policy);',
      'return found;',
      'it is told what stands there, and what it tells is kept, without what may not be written',
    ],
    [
      'a stop that would be an answer',
      '      signal.throwIfAborted();\n',
      '',
      'a run that is stopped has no answer: the next process asks',
    ],
  ]),
  ...within('engine/run/decide/replay-stages.ts', 'test/engine/run/decide/replay-run.test.ts', [
    [
      'stage checks that were never asked',
      "compared(whole.path, '/asked', stage?.asked, whole.object.asked) ??",
      '',
      'a record that was changed is found out, and the first input that differs is named',
    ],
  ]),
  ...within('engine/run/judge/run-stage.ts', checkRuns, [
    [
      'stage checks of plugins',
      'findings: [...found, ...further.findings] });',
      'findings: [...found] });',
      'what the stage check refuses is not committed, and says rule and reason',
    ],
    [
      'findings that a stage check would take away',
      'findings: [...found, ...further.findings] });',
      'findings: further.findings.length > 0 ? further.findings : found });',
      'a stage check sees what stands there, warns, and takes nothing away',
    ],
  ]),
  ...within('engine/plugin-trust/taken-names.ts', checkRuns, [
    [
      'stage checks in the name of a rule',
      'stageChecks: ruleNames',
      'stageChecks: []',
      'a stage check bears no name of a rule',
    ],
  ]),
  ...within('engine/plugin-trust/packed-files.ts', packs, [
    [
      'secrets in packages',
      ' && !leftOut.includes(path)',
      '',
      'what is called like a secret, hidden or behind a link is not packed',
    ],
    [
      'patterns that lead out',
      "segment === '' || segment === '.' || segment === '..'",
      "segment === ''",
      'what is called like a secret, hidden or behind a link is not packed',
    ],
  ]),
  ...within('readers/documents/archive/plain-tar.ts', packs, [
    [
      'packages with times of their own',
      '  octal(madeAt, 11, 136);',
      '  octal(process.pid, 11, 136);\n  octal(performance.now() | 0, 11, 136);',
      'the same files are the same bytes, whatever their times, rights and order',
    ],
  ]),
  ...within('bin/commands/plugin-trust.ts', packs, [
    [
      'trust that nobody confirmed',
      "    if (!given.startsWith('sha256:') && !options.flag('yes')) await askPerson(context, meant);\n",
      '',
      'trust tells what it gives, and asks',
    ],
    [
      'an answer that is no yes',
      "  if (said !== 'yes' && said !== 'y')",
      "  if (said === 'never')",
      'trust tells what it gives, and asks',
    ],
  ]),
  ...within('bin/plugin/named-plugin.ts', packs, [
    [
      'a name that is two things',
      '  if (listed !== undefined && listed.listed.digest !== digest)',
      "  if (listed !== undefined && digest === '')",
      'trust tells what it gives, and asks',
    ],
  ]),
  ...within('attest/verify/verify-run.ts', shown, [
    [
      'plugins that a statement lists',
      '  list.grounds.plugins = claims.plugins;\n',
      '',
      'whoever verifies or shows a run sees which plugins it was judged by, and what they were given',
    ],
  ]),
  ...within('engine/run/record/sealed-plugins.ts', shown, [
    [
      'things that only bear a plugin’s name',
      '!uri.startsWith(pluginDependency.uri)',
      "uri === ''",
      'a bundle that cannot be read lists no plugin',
    ],
  ]),
  ...within('attest/public/pinned-log.ts', logs, [
    [
      'entries that were never handed in',
      '    if (rootFromInclusion(logIndex, treeSize, leafHash(body), hashes)?.equals(rootHash) !== true)',
      '    if (logIndex < 0)',
      'a log that lies that it was handed the entry is not believed, and nothing stays',
    ],
    [
      'a log that has shrunk since this user saw it',
      'Math.max(seen, remembered?.size ?? 0)',
      'Math.max(seen, remembered === undefined ? 0 : 0)',
      'a log that starts over since it was seen is refused, and nothing stays',
    ],
    [
      'checkpoints of another size',
      '    if (head.size !== treeSize || !head.root.equals(rootHash))',
      '    if (head.size < 0)',
      'a log that lies about its size is not believed, and nothing stays',
    ],
  ]),
  ...within('attest/public/public-log-section.ts', logs, [
    [
      'a log without a key to check it by',
      '  if (vkey === undefined || !isVkey(vkey))',
      '  if (vkey === "")',
      'a log that nothing could be checked against, or that nobody brings, is refused before any work',
    ],
  ]),
];
