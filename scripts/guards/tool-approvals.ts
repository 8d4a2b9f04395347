import { type Guard, within } from './guard.ts';

const classes = 'test/session/approvals/classify-command.test.ts';
const policies = 'test/session/approvals/judge-approval.test.ts';
const reach = 'test/session/approvals/covers.test.ts';
const told = 'test/session/approvals/describe-approval.test.ts';
const kept = 'test/session/approvals/keep-grants.test.ts';
const routes = 'test/session/api/approval-routes.test.ts';
const hostile = 'no hostile command is called safe';
const every = 'every policy judges every kind of use';

/** What stands between a tool call and its being made in a session. */
export const guards: readonly Guard[] = [
  ...within('session/approvals/classify-command.ts', classes, [
    ['plain words alone are a read', 'if (!isPlain(text, commands)) {', "if (text === '') {", hostile],
    [
      'what is expanded is no read',
      'argv.some(({ literal }) => literal === undefined)',
      'argv.length === 0',
      hostile,
    ],
    ['options are known one by one', 'if (!reads(args))', "if (name === '')", hostile],
    [
      'a read stays in the workspace',
      "named.every(({ kind }) => kind === 'workspace')",
      'named.every(Boolean)',
      hostile,
    ],
    ['what is written is looked at', '?? dangerOfWrites(reading)', '', hostile],
  ]),
  ...within('session/approvals/danger.ts', classes, [
    ['deletions', "if (name !== 'rm') return undefined;", "if (name !== '') return undefined;", hostile],
    ['permissions', "if (name !== 'chmod') return undefined;", "if (name !== '') return undefined;", hostile],
    ['a text that is run', 'runsText(name, args) ??', '', hostile],
    ['places outside', 'leaves(name, command) ??', '', hostile],
    ['what runs by itself', 'if (!writers.has(name) || name ===', "if (name !== '' || name ===", hostile],
    ['version control has its tool', 'if (isVersionControl(name))', "if (name === '')", hostile],
    ['publishing', 'publishes(name, args) ??', '', hostile],
  ]),
  ...within('session/approvals/judge-approval.ts', policies, [
    ['outside is asked about first', 'if (use.isOutside) return outside(policy);', '', every],
    [
      'nothing is confined where there is no sandbox',
      "if (kind === 'command' && facts.sandbox === undefined) return unconfined(policy);",
      '',
      every,
    ],
    [
      '`never` refuses what is dangerous',
      "if (judged.class === 'dangerous' || isUnconfined(judged))\n    return",
      "if (judged.class === 'safe')\n    return",
      every,
    ],
    [
      'what leaves the machine is asked about',
      'if (facts.leavesMachine) return',
      "if (kind === 'reading') return",
      every,
    ],
    ['what was denied is asked about', 'facts.heldBack !== undefined', 'isUnconfined(judged)', every],
  ]),
  ...within('session/approvals/approval-policy.ts', policies, [
    [
      'policies by name',
      'if (policy !== undefined) return policy;',
      "return policy ?? 'allow-all';",
      'a policy goes by',
    ],
  ]),
  ...within('session/approvals/approval-key.ts', reach, [
    ['a line break is no blank', 'reading.commands.length !== 1 ||', '', 'what is nearly the same'],
    ['a real place', 'path.normalize(use.cwd) !== use.cwd', "use.cwd === ''", 'the key goes by'],
    ['where', 'use.cwd, use.sandbox, use.branch]', 'use.sandbox, use.branch]', 'each option reaches'],
    [
      'words that were cut',
      "if (use.request.tool === 'vcs' || command !== undefined)",
      "if (use.request.tool === '')",
      'a use that is not known',
    ],
  ]),
  ...within('session/approvals/covers.ts', reach, [
    [
      'outside only a fresh answer',
      "if (use.isOutside) return grant.kind === 'once' && isThisCall;",
      '',
      'outside the sandbox',
    ],
    [
      'one sandbox policy, one branch',
      'sandbox === use.sandbox && branch === use.branch',
      'branch !== sandbox',
      'each option reaches',
    ],
    [
      'danger does not spread over directories',
      '(isDangerous ? isHere : isHereOrBelow)',
      'isHereOrBelow',
      'each option reaches',
    ],
    [
      'danger is no pattern',
      'isHere && !isDangerous && matchesPattern',
      'isHere && matchesPattern',
      'a pattern is a program',
    ],
    [
      'danger is not to come',
      'return isHereOrBelow && !isDangerous;',
      'return isHereOrBelow;',
      'a word about uses to come',
    ],
    ['one call', 'grant.useId === use.id && grant.key === key', 'grant.key === key', 'each option reaches'],
    [
      'no comes first',
      'if (declined !== undefined) return',
      'if (declined === null) return',
      'what was declined',
    ],
  ]),
  ...within('session/approvals/grant-from.ts', reach, [
    [
      'no consent, no grant',
      'if (!isConsent(option)) {',
      "if (option === 'deny') {",
      'an answer that is no consent',
    ],
    ['nothing is remembered of outside', 'if (use.isOutside) return [once];', '', 'outside the sandbox'],
    [
      'a day at most',
      'Math.min(ttlSeconds * 1000, longestTtlMs)',
      'ttlSeconds * 1000',
      'time that two clocks',
    ],
  ]),
  ...within('session/approvals/command-pattern.ts', reach, [
    ['subcommands that run anything', '|| never.test(subcommand)', '', 'a pattern is a program'],
    ['only listed programs', 'if (count === undefined) return undefined;', '', 'a pattern is a program'],
  ]),
  ...within('session/approvals/grant.ts', reach, [
    [
      'both clocks',
      'Math.max(now.epochMs - at.epochMs, now.monotonicMs - at.monotonicMs)',
      'now.epochMs - at.epochMs',
      'time that two clocks',
    ],
    ['a machine that slept', 'Math.max(now.epochMs - at.epochMs,', 'Math.max(0,', 'time that two clocks'],
    ['another process', 'if (!(now.monotonicMs >= at.monotonicMs) || ', 'if (', 'time that two clocks'],
  ]),
  ...within('session/approvals/keep-grants.ts', kept, [
    [
      'one word, one call',
      "if (coverage?.grant.kind === 'once')",
      "if (coverage?.grant.kind === 'ttl')",
      'a word about one call',
    ],
    ['over is over', 'grants = grants.filter((grant) => isLive(grant, at));', '', 'what was over stays over'],
  ]),
  ...within('session/approvals/visible-text.ts', told, [
    ['what is not seen', '.replaceAll(unseen,', '.replaceAll(/\\0/g,', 'a question is bounded'],
    ['masked while whole', 'mask(text).replaceAll', 'text.replaceAll', 'no secret is shown'],
    ['cut', 'letters.length <= most ? shown', 'letters.length > 0 ? shown', 'a question is bounded'],
  ]),
  ...within('session/approvals/use-text.ts', told, [
    [
      'a secret in pieces',
      'return hidden === undefined ? shown',
      'return hidden !== null ? shown',
      'no secret is shown',
    ],
  ]),
  ...within('session/approvals/written-change.ts', 'test/session/approvals/written-change.test.ts', [
    [
      'a change that is shown is masked',
      'unifiedLines(mask(old), mask(now))',
      'unifiedLines(old, now)',
      'a change that is asked about',
    ],
    [
      'a change that is shown hides nothing',
      'visibleText(line.slice(1), (one) => one, most.line)',
      'line.slice(1, most.line)',
      'a change that is asked about',
    ],
    [
      'of a line that is cut nobody is told that it is all',
      '...(isCut ? {',
      '...(isCut && false ? {',
      'a change that is asked about',
    ],
  ]),
  ...within('session/approvals/describe-approval.ts', told, [
    ['no digest of a secret', '...(isOpen ? {', '...(exact ? {', 'no secret is shown'],
  ]),
  ...within('session/channel/revoke-grant.ts', routes, [
    [
      'one queue',
      "await channel.send({ type: 'revoke', grant: id, proof });",
      '',
      'what is pre-approved is told',
    ],
    ['an id that is', 'grants.require(id);', '', 'whoever may not write'],
  ]),
];
