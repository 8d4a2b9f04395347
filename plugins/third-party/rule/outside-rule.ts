/* Runs a third-party rule in a separate process. */
import { messageOf, WritError } from '../../../core/base/errors.ts';
import type { Finding } from '../../../core/interfaces/finding.ts';
import type { RuleInput } from '../../../core/interfaces/rule.ts';
import type { SandboxBackend, SandboxResult } from '../../../core/interfaces/sandbox.ts';
import { parseFindings } from '../../../core/kernel/answer.ts';
import { type OutsiderPlace, pluginInside, thirdPartySandbox } from '../process/start-talk.ts';
import { answerMark, toWire, type WireAnswer } from './outside/wire.ts';

/** One rule of somebody else's plugin, and where it may run. */
export interface OutsideRule extends OutsiderPlace {
  readonly id: string;
  /** Name of the plugin: every fault carries it. */
  readonly plugin: string;
  /** A file below `directory`. */
  readonly module: string;
  readonly timeoutSeconds: number;
  readonly sandbox: SandboxBackend;
}

/** Why a third-party rule gave no answer. */
type OutsideFault =
  | 'threw'
  | 'deadline'
  | 'aborted'
  | 'crashed'
  | 'garbage'
  | 'input-too-large'
  | 'sandbox-failed';

const maxInputBytes = 64 * 1024 * 1024;
const maxAnswerBytes = 4 * 1024 * 1024;

/**
 * Runs a third-party rule in a separate process: no network, no writable file, no child process; time, memory and
 * answer are bounded. Any failure becomes one `error` finding with rule, plugin and reason. Rejects only if the
 * sandbox does not confine.
 */
export async function callThirdPartyRule(
  rule: OutsideRule,
  input: RuleInput,
  signal?: AbortSignal,
): Promise<readonly Finding[]> {
  if (rule.sandbox.unconfined)
    throw new WritError('SANDBOX_UNAVAILABLE', {
      message: `plugin \`${rule.plugin}\` is third-party code, so writ runs it only in a sandbox, and none works here`,
      detail: { plugin: rule.plugin },
    });
  let wire: Uint8Array;
  try {
    wire = Buffer.from(toWire(input));
  } catch (fault) {
    return refuse(rule, 'input-too-large', messageOf(fault));
  }
  if (wire.length > maxInputBytes)
    return refuse(rule, 'input-too-large', `${wire.length} bytes, at most ${maxInputBytes} are handed over`);
  let result: SandboxResult;
  try {
    result = await runRule(rule, wire, signal);
  } catch (fault) {
    return refuse(rule, 'sandbox-failed', messageOf(fault));
  }
  if (result.aborted) return refuse(rule, 'aborted', 'the run was stopped');
  if (result.timedOut) return refuse(rule, 'deadline', `no answer within ${rule.timeoutSeconds} s`);
  if (result.exceeded)
    return refuse(rule, 'crashed', `it held too much of the machine's ${result.exceeded.what}`);
  return readAnswer(rule, result);
}

function runRule(rule: OutsideRule, stdin: Uint8Array, signal?: AbortSignal): Promise<SandboxResult> {
  const { module, sandbox, timeoutSeconds } = rule;
  return sandbox.run({
    ...thirdPartySandbox(rule, new URL('./outside', import.meta.url), [`${pluginInside}/${module}`], false),
    network: 'none',
    timeoutMs: timeoutSeconds * 1000,
    // Head and tail are kept: an answer of the allowed size is whole.
    maxOutputBytes: maxAnswerBytes,
    stdin,
    ...(signal === undefined ? {} : { signal }),
  });
}

function readAnswer(
  rule: OutsideRule,
  { stdout, stderr, exitCode, signal }: SandboxResult,
): readonly Finding[] {
  const said = stderr.bytes.toString('utf8').trim();
  if (exitCode !== 0) {
    const how = exitCode === undefined ? `signal ${signal ?? 'unknown'}` : `exit code ${exitCode}`;
    return refuse(rule, 'crashed', `its process ended with ${how}`, said);
  }
  if (stdout.truncated)
    return refuse(
      rule,
      'garbage',
      `it answered ${stdout.totalBytes} bytes, expected at most ${maxAnswerBytes}`,
    );
  const text = stdout.bytes.toString('utf8');
  const lines = text.split('\n');
  if (!text.startsWith(answerMark) || lines.length !== 2 || lines[1] !== '')
    return refuse(rule, 'garbage', 'its process ended without an answer', said);
  try {
    const answer = JSON.parse(text.slice(answerMark.length)) as WireAnswer;
    if (answer.ok === false)
      return refuse(
        rule,
        'threw',
        `${String(answer.name).slice(0, 200)}: ${String(answer.message).slice(0, 1000)}`,
      );
    if (answer.ok !== true) throw new TypeError('expected `ok` to be true or false');
    const findings = parseFindings(answer.value);
    const foreign = findings.find((finding) => finding.rule !== rule.id);
    if (foreign) throw new TypeError(`expected findings of \`${rule.id}\`, got one of \`${foreign.rule}\``);
    return findings;
  } catch (fault) {
    return refuse(rule, 'garbage', messageOf(fault));
  }
}

function refuse(rule: OutsideRule, reason: OutsideFault, message: string, said = ''): readonly Finding[] {
  const { id, plugin, timeoutSeconds } = rule;
  return [
    {
      rule: id,
      severity: 'error',
      message: `rule \`${id}\` of plugin \`${plugin}\` gave no answer (${reason}): ${message}`.slice(0, 4000),
      detail: {
        code: 'RULE_FAULT',
        plugin,
        reason,
        timeoutSeconds,
        ...(said === '' ? {} : { said: said.slice(-1000) }),
      },
    },
  ];
}
