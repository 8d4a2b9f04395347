/* Ledger rows of the section `security`. */
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { ToolConstraintKey } from '../checks-of.ts';
import { always, type ContractRow, inSection, withModel } from '../contract-row.ts';

const constraints = '/security/toolAcl/*/*/constraints';

export const securityRows = inSection('Security policy', [
  {
    id: 'security.toolAcl.allow',
    path: '/security/toolAcl/allow',
    rule: 'a command that no rule allows is never run',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'security.toolAcl.deny',
    path: '/security/toolAcl/deny',
    rule: 'deny rules are asked first and win',
    asks: ({ security }) => security.toolAcl.deny.length > 0,
    enforcedBy: 'core',
  },
  {
    id: 'toolRule.tool',
    path: '/security/toolAcl/*/*/tool',
    rule: '`workspace.command` rules govern the commands of checks',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'toolRule.actions',
    path: '/security/toolAcl/*/*/actions',
    rule: '`execute` is what runs a command',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'toolRule.tool#model-tools',
    path: '/security/toolAcl/*/*/tool',
    rule: 'rules for files, search, language server, web and version control govern a model',
    asks: withModel,
    enforcedBy: 'core',
  },
  {
    id: 'toolRule.tool#language-server',
    path: '/security/toolAcl/*/*/tool',
    rule: 'rules of `workspace.lsp` open a language server to a model, action by action',
    asks: (spec, { model }) => model && rulesOf(spec).some(({ tool }) => tool === 'workspace.lsp'),
    enforcedBy: 'core',
  },
  {
    id: 'toolRule.constraints',
    path: constraints,
    rule: 'an unknown constraint fails closed',
    asks: (spec) => rulesOf(spec).some((rule) => Object.keys(rule.constraints).length > 0),
    enforcedBy: 'core',
  },
  ...commandConstraint('allowCommands', 'word sequences that a simple command may begin with'),
  ...commandConstraint('denySubstrings', 'a command that holds one is denied'),
  ...commandConstraint('maxOutputBytes', 'output kept of a command'),
  ...commandConstraint('writeRoots', 'redirections of a command stay below these directories'),
  ...commandConstraint('denyPaths', 'no redirection and no argument of a command names these paths'),
  fileConstraint('maxWriteBytes', 'size of one write'),
  fileConstraint('maxResultBytes', 'size of one result'),
  {
    id: 'toolRule.constraints.networkHosts',
    path: `${constraints}/networkHosts`,
    rule: 'hosts that the proxy opens for the commands of the rule',
    asks: uses('networkHosts'),
    enforcedBy: 'sandbox',
  },
  {
    id: 'toolRule.constraints.networkReason',
    path: `${constraints}/networkReason`,
    rule: 'why they are opened; listed in the provenance',
    asks: uses('networkReason'),
    enforcedBy: 'sandbox',
  },
  {
    id: 'security.secrets.policy=deny-all',
    path: '/security/secrets/policy',
    rule: 'no secret reaches a check: the environment is an allow-list',
    asks: ({ security }) => security.secrets.policy === 'deny-all',
    enforcedBy: 'core',
  },
  {
    id: 'security.secrets.policy=scoped',
    path: '/security/secrets/policy',
    rule: 'secrets of the allowed scopes are given to checks and masked in all evidence',
    asks: ({ security }) => security.secrets.policy === 'read-only-scoped',
    enforcedBy: 'core',
  },
  {
    id: 'security.secrets.policy=allow-scoped',
    path: '/security/secrets/policy',
    rule: 'secrets that may change something want a justification, and are given to release checks that people approved',
    asks: ({ security }) => security.secrets.policy === 'allow-scoped',
    enforcedBy: 'core',
  },
  {
    id: 'security.secrets.allowedScopes',
    path: '/security/secrets/allowedScopes',
    rule: 'which secrets, where the policy is not deny-all',
    asks: ({ security }) =>
      security.secrets.policy !== 'deny-all' && security.secrets.allowedScopes.length > 0,
    enforcedBy: 'core',
  },
  {
    id: 'security.promptInjection.treatRetrievedContentAsUntrusted',
    path: '/security/promptInjection/treatRetrievedContentAsUntrusted',
    rule: 'retrieved content is tagged `untrusted` and the prompt says so',
    asks: withModel,
    enforcedBy: 'core',
  },
  {
    id: 'security.promptInjection.enforceOutputSchema',
    path: '/security/promptInjection/enforceOutputSchema',
    rule: 'a model reply of another structure is a failure and is retried',
    asks: withModel,
    enforcedBy: 'core',
  },
  {
    id: 'security.promptInjection.disallowInstructionFromEvidence',
    path: '/security/promptInjection/disallowInstructionFromEvidence',
    rule: 'known injection patterns are filtered from evidence before it is used again',
    asks: withModel,
    enforcedBy: 'core',
  },
  {
    id: 'security.outputHandling.encodingPolicy=contextual-escape',
    path: '/security/outputHandling/encodingPolicy',
    rule: 'every sink escapes untrusted text',
    asks: ({ security }) => security.outputHandling.encodingPolicy === 'contextual-escape',
    enforcedBy: 'core',
  },
  {
    id: 'security.outputHandling.encodingPolicy=strict-json',
    path: '/security/outputHandling/encodingPolicy',
    rule: 'replies and tool answers must parse',
    asks: ({ security }) => security.outputHandling.encodingPolicy === 'strict-json',
    enforcedBy: 'core',
  },
  {
    id: 'security.outputHandling.encodingPolicy=none',
    path: '/security/outputHandling/encodingPolicy',
    rule: 'text sinks are raw',
    asks: ({ security }) => security.outputHandling.encodingPolicy === 'none',
    enforcedBy: 'core',
  },
  {
    id: 'security.outputHandling.noDirectEval',
    path: '/security/outputHandling/noDirectEval',
    rule: 'a patch that adds direct execution is rejected before it is Proposed',
    asks: ({ security }) => security.outputHandling.noDirectEval,
    enforcedBy: 'gates',
  },
  {
    id: 'security.outputHandling.noDirectEval=false',
    path: '/security/outputHandling/noDirectEval',
    rule: 'a patch is not evaluated for direct execution',
    asks: ({ security }) => !security.outputHandling.noDirectEval,
    enforcedBy: 'gates',
  },
  {
    id: 'security.outputHandling.noDirectEval#task',
    path: '/security/outputHandling/noDirectEval',
    rule: 'the PatchSet of each Task is evaluated by itself, and its Task is retried',
    asks: (spec, { model }) => model && spec.security.outputHandling.noDirectEval,
    enforcedBy: 'core',
  },
]);

type Row = Omit<ContractRow, 'section'>;

/** The command ACL enforces it. On rules of other tools it affects only a model. */
function commandConstraint(key: ToolConstraintKey, rule: string): readonly Row[] {
  const asks = uses(key, (tool) => tool === 'workspace.command');
  return [
    {
      id: `toolRule.constraints.${key}`,
      path: `${constraints}/${key}`,
      rule,
      asks,
      enforcedBy: 'core',
    },
    {
      id: `toolRule.constraints.${key}#model-tools`,
      path: `${constraints}/${key}`,
      rule: `${rule}; on rules of other tools`,
      asks: (spec, { model }) => model && uses(key, (tool) => tool !== 'workspace.command')(spec),
      enforcedBy: 'core',
    },
  ];
}

/** On the rule of a command it bounds each file that is written, and what is read of its output. */
function fileConstraint(key: ToolConstraintKey, rule: string): Row {
  return {
    id: `toolRule.constraints.${key}`,
    path: `${constraints}/${key}`,
    rule,
    asks: (spec, { model }) => uses(key, (tool) => model || tool === 'workspace.command')(spec),
    enforcedBy: 'core',
  };
}

function uses(
  key: ToolConstraintKey,
  ofTool: (tool: string) => boolean = always,
): (spec: EffectiveIntentSpec) => boolean {
  return (spec) =>
    rulesOf(spec).some(({ tool, constraints: given }) => Object.hasOwn(given, key) && ofTool(tool));
}

function rulesOf({ security }: EffectiveIntentSpec): EffectiveIntentSpec['security']['toolAcl']['allow'] {
  return [...security.toolAcl.allow, ...security.toolAcl.deny];
}
