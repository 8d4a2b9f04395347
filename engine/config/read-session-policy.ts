/* Reads `[session]` and `[hooks]` of configurations, and the machine's policy, which only root can write. */
import { lstatSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { readPlain } from '../../core/base/files.ts';
import { budgetBounds } from './bounds.ts';
import {
  demandedApprovals,
  machinePolicyPath,
  type SessionLimits,
  type SessionPolicy,
} from './session-policy.ts';
import {
  type ConfigIssue,
  readDocument,
  readUserTable,
  type TableReader,
  type UserConfig,
} from './table-reader.ts';

const maxNames = 64;
const maxPolicyBytes = 64 * 1024;

/** Reads `[session]`. */
export function readSessionSection(reader: TableReader): SessionLimits {
  const names = (key: string, form: RegExp, expected: string): readonly string[] | undefined => {
    if (!reader.has(key)) return undefined;
    const given = reader.texts(key, []);
    if (given.length > maxNames) reader.refuse(reader.at(key), `expected at most ${maxNames} names`);
    const wrong = given.findIndex((one) => !form.test(one));
    if (wrong >= 0) reader.refuse(`${reader.at(key)}[${wrong}]`, expected);
    return given;
  };
  const word = <Word extends string>(key: string, words: readonly Word[]): Word | undefined => {
    if (!reader.has(key)) return undefined;
    const given = reader.text(key, '');
    const found = words.find((one) => one === given);
    if (found === undefined)
      reader.refuse(reader.at(key), `expected ${words.map((one) => `"${one}"`).join(', ')}`);
    return found;
  };
  const { min, max } = budgetBounds;
  const limits = {
    providers: names(
      'providers',
      /^[\w-]{1,64}(?:@(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?)?$/,
      'expected the name of a provider, or `NAME@HOST` for another address of it',
    ),
    models: names('models', /^[^*\s]*\*?$/, 'expected a model id, or the begin of one with `*` at its end'),
    approvalPolicy: word('approval_policy', demandedApprovals),
    network: word('network', ['deny']),
    mcp: names('mcp', /^[a-z][a-z0-9-]{0,23}$/, 'expected the name of an MCP server'),
    sessionUsd: reader.number('session_usd', undefined, min, max),
    goalTokens: reader.has('goal_tokens') ? reader.integer('goal_tokens', 1, 1, 1_000_000_000) : undefined,
    goalCostUsd: reader.number('goal_cost_usd', undefined, 0.001, 10_000),
    goalSeconds: reader.has('goal_seconds') ? reader.integer('goal_seconds', 1, 1, 604_800) : undefined,
  };
  reader.end();
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}

/** When a hook is called: before a message goes to a model, before a model's tool call, after a turn. */
const hookEvents = ['message', 'tool', 'end'] as const;
export type HookEvent = (typeof hookEvents)[number];

/** A program that a session calls, and whose configuration names it. */
export interface SessionHook {
  readonly event: HookEvent;
  /** No shell. */
  readonly argv: readonly string[];
  readonly from: 'user' | 'policy';
}

const maxHookWords = 64;

/** Reads `[hooks]`. */
export function readHooksSection(
  reader: TableReader,
  from: SessionHook['from'] = 'policy',
): readonly SessionHook[] {
  const hooks = hookEvents.flatMap((event): readonly SessionHook[] => {
    if (!reader.has(event)) return [];
    const argv = reader.texts(event, []);
    if (argv.length === 0 || argv.length > maxHookWords || argv.some((word) => word.includes('\0')))
      reader.refuse(reader.at(event), `expected a program and its arguments, at most ${maxHookWords} words`);
    else if (argv[0] === '') reader.refuse(reader.at(event), 'expected a program as the first word');
    return [{ event, argv, from }];
  });
  reader.end();
  return hooks;
}

/** Reads `[hooks]` of a user's `config.toml`. Throws CONFIG_INVALID. */
export function readUserHooks(config: UserConfig): readonly SessionHook[] {
  return readUserTable(config, 'hooks', (reader) => readHooksSection(reader, 'user'));
}

/** The policy that holds now: `[session]` of the configuration, and the machine's. MACHINE_POLICY_INVALID. */
export function sessionPolicyOf({ session }: { readonly session?: SessionLimits }): SessionPolicy {
  const machine = readMachinePolicy();
  return [
    ...(session === undefined ? [] : [{ ...session, from: 'repository' } as const]),
    ...(machine === undefined ? [] : [{ ...machine, from: 'machine' } as const]),
  ];
}

/**
 * Reads the machine's policy; `undefined` if there is no such file. A file that cannot be read, is not valid, or that
 * someone else than root could have written is MACHINE_POLICY_INVALID: nothing goes on without it.
 */
export function readMachinePolicy(path: string = machinePolicyPath): SessionLimits | undefined {
  const { bytes, status, fault } = readPlain(path, maxPolicyBytes);
  if (fault?.code === 'ENOENT') return undefined;
  const directory = lstatSync(dirname(path), { throwIfNoEntry: false });
  const insecure = [
    why('its directory', directory),
    ...(status === undefined ? [] : [why('it', status)]),
  ].find((one) => one !== undefined);
  if (insecure !== undefined) throw invalid(path, insecure);
  if (bytes === undefined)
    throw invalid(
      path,
      fault.code === 'ELOOP' ? 'it is a symbolic link' : `it cannot be read (${fault.code})`,
    );
  const fail = (issues: readonly ConfigIssue[]): WritError => {
    const [first] = issues;
    return invalid(path, [first?.path, first?.message].filter((one) => one !== '').join(': '), issues);
  };
  return readDocument(bytes, { maxBytes: maxPolicyBytes, invalid: fail }, (root) =>
    readSessionSection(root.table('session')),
  );
}

function why(what: string, status: Stats | undefined): string | undefined {
  if (status === undefined || status.isSymbolicLink()) return `${what} is a symbolic link`;
  if (status.uid !== 0) return `${what} belongs to user ${status.uid}, not to root`;
  return (status.mode & 0o022) === 0 ? undefined : `others than root may write to ${what}`;
}

function invalid(path: string, reason: string, issues: readonly ConfigIssue[] = []): WritError {
  return new WritError('MACHINE_POLICY_INVALID', {
    message: `\`${path}\` cannot be used: ${reason}. writ calls no model until it is mended`,
    detail: { path, reason, ...(issues.length === 0 ? {} : { issues }) },
  });
}
