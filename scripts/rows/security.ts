import { type RowReader, readersIn } from './row-reader.ts';

const named = 'a rule governs the tool and the actions that it names';

/** Security policy. */
export const readers: readonly RowReader[] = [
  ...readersIn('engine/run/work/hands/judge-use.ts', [
    [
      'toolRule.tool#language-server',
      '[codeTool, use.action]',
      'names.read',
      'each constraint of a rule for language servers holds',
    ],
    [
      'toolRule.tool#model-tools',
      'why ?? placeRefusal',
      'placeRefusal',
      'tools that no rule allows, and places out of scope, are denied when they are asked for',
    ],
  ]),
  ...readersIn('engine/tool/acl/guard-tool.ts', [
    [
      'toolRule.constraints.allowCommands#model-tools',
      "if (allowCommands) return 'its",
      "if (allowCommands === null) return 'its",
      'keys that a tool cannot keep',
    ],
    [
      'toolRule.constraints.denySubstrings#model-tools',
      'return needles.find((needle) =>',
      'return [].find((needle) =>',
      'a write beyond the roots',
    ],
    [
      'toolRule.constraints.writeRoots#model-tools',
      'if (!isInside) {',
      'if (isInside === undefined) {',
      'a write beyond the roots',
    ],
    [
      'toolRule.constraints.denyPaths#model-tools',
      'if (denyPaths && (!areRoots(denyPaths) || call.real.some((at) => isUnder(denyPaths, at)))) {',
      'if (denyPaths === null) {',
      'what an allow rule hides',
    ],
    [
      'toolRule.constraints.maxWriteBytes',
      'return max === undefined || (writeBytes',
      'return max !== null || (writeBytes',
      'a write beyond the roots',
    ],
    [
      'toolRule.constraints.maxOutputBytes#model-tools',
      'maxOutputBytes ?? Number.POSITIVE_INFINITY',
      'Number.POSITIVE_INFINITY',
      'results are cut',
    ],
    [
      'toolRule.constraints.maxResultBytes',
      'maxResultBytes ?? Number.POSITIVE_INFINITY',
      'Number.POSITIVE_INFINITY',
      'results are cut',
    ],
  ]),
  ...readersIn('engine/run/work/turns/untrusted-text.ts', [
    [
      'security.promptInjection.treatRetrievedContentAsUntrusted',
      '!treatRetrievedContentAsUntrusted',
      'text !== undefined',
      'what tools return is fenced',
    ],
    [
      'security.promptInjection.disallowInstructionFromEvidence',
      'disallowInstructionFromEvidence ? withoutInstructions(text) : text',
      'text',
      'what tools return is fenced',
    ],
  ]),
  ...readersIn('engine/run/work/turns/open-turns.ts', [
    [
      'security.outputHandling.encodingPolicy=strict-json',
      "outputHandling.encodingPolicy === 'strict-json'",
      'outputHandling.encodingPolicy === undefined',
      'under `strict-json` a reply is',
    ],
    [
      'security.promptInjection.enforceOutputSchema',
      '!enforceOutputSchema && !isStrict',
      'promptInjection !== undefined',
      'a reply of another structure is told what is wrong and asked again',
    ],
  ]),
  ...readersIn('engine/tool/acl/guard-command.ts', [
    [
      'security.toolAcl.allow',
      "allowRules(toolAcl.allow, 'workspace.command', 'execute')",
      '[{ index: 0, constraints: {} }]',
    ],
    [
      'security.toolAcl.deny',
      "denyRules(toolAcl.deny, 'workspace.command', 'execute')",
      '[]',
      'security.toolAcl.deny: a deny rule wins',
    ],
    [
      'toolRule.constraints.allowCommands',
      '!allowCommands || allowCommands.some((e) => entryMatches(e, command))',
      'allowCommands !== null',
      'toolRule.constraints.allowCommands',
    ],
    [
      'toolRule.constraints.denySubstrings',
      'needles.find((needle) => hay',
      '[].find((needle) => hay',
      'toolRule.constraints.denySubstrings',
    ],
    [
      'toolRule.constraints.writeRoots',
      'if (!writtenPaths(reading).every(isInside))',
      'if (writtenPaths(reading).every(isInside) === undefined)',
      'toolRule.constraints.writeRoots',
    ],
    [
      'toolRule.constraints.denyPaths',
      'if (denyPaths && pathIn(denyPaths, namedPaths(reading))) return',
      'if (denyPaths === null) return',
      'toolRule.constraints.denyPaths',
    ],
    [
      'toolRule.constraints.networkHosts',
      'hosts && reason ? [{ hosts, reason }] : []',
      '[]',
      'a rule with hosts and a reason opens them',
    ],
    [
      'toolRule.constraints.networkReason',
      '[{ hosts, reason }]',
      "[{ hosts, reason: 'a reason' }]",
      'a rule with hosts and a reason opens them',
    ],
  ]),
  ...readersIn('engine/tool/acl/matching-rules.ts', [
    ['toolRule.tool', 'rule.tool === tool && ', '', named, 'toolRule.tool'],
    [
      'toolRule.actions',
      'rule.tool === tool && rule.actions.includes(action)',
      'rule.tool === tool',
      named,
      'toolRule.actions',
    ],
  ]),
  ...readersIn('engine/tool/acl/constraints.ts', [
    [
      'toolRule.constraints',
      'if (!isToolConstraintKey(key) || !isUsable(key, value)) return undefined;',
      'if (!isToolConstraintKey(key) || !isUsable(key, value)) continue;',
      'toolRule.constraints: an unknown key',
    ],
  ]),
  ...readersIn('engine/run/judge/run-command.ts', [
    [
      'toolRule.constraints.maxOutputBytes',
      'acl.maxOutputBytes ?? defaultMaxOutputBytes',
      'defaultMaxOutputBytes',
      'maxOutputBytes: so much is kept of what a command prints',
    ],
  ]),
  ...readersIn('plugins/sandbox/environment.ts', [
    [
      'security.secrets.policy=deny-all',
      'return { ...env, PATH: own.path,',
      'return { ...process.env, ...env, PATH: own.path,',
      'secrets deny-all: nothing',
    ],
  ]),
  ...readersIn('engine/run/judge/given-secrets.ts', [
    [
      'security.secrets.policy=scoped',
      'return given;',
      'return nothing;',
      'a check is given the secrets of the allowed scopes',
    ],
    [
      'security.secrets.policy=allow-scoped',
      "secrets.policy === 'allow-scoped'",
      'secrets.policy === undefined',
      'what may change something is given to no check',
    ],
  ]),
  ...readersIn('engine/run/state/run-secrets.ts', [
    [
      'security.secrets.allowedScopes',
      'of secrets.allowedScopes)',
      "of ['npm:read'])",
      'under deny-all, and for other scopes',
    ],
  ]),
  ...readersIn('plugins/artifacts/release-notes.ts', [
    [
      'security.outputHandling.encodingPolicy=none',
      "encodingPolicy === 'none'",
      'encodingPolicy === undefined',
      'text is raw where the contract says so',
    ],
    [
      'security.outputHandling.encodingPolicy=contextual-escape',
      'toReleaseNotes(request, markdownText)',
      'toReleaseNotes(request, (text) => text)',
      'no markup, HTML, link or line break',
    ],
  ]),
  ...readersIn('gates/rules/no-direct-eval.meta.ts', [
    [
      'security.outputHandling.noDirectEval',
      '(spec) => spec.security.outputHandling.noDirectEval',
      '() => false',
    ],
    [
      'security.outputHandling.noDirectEval=false',
      '(spec) => spec.security.outputHandling.noDirectEval',
      '() => true',
      'a contract that lets text be executed does not ask the rule',
    ],
    [
      'security.outputHandling.noDirectEval#task',
      "point: 'patch',",
      "point: 'patch', judgesWhole: true,",
      'who wrote what is refused',
      'noDirectEval: a Task whose PatchSet',
    ],
  ]),
];
