import type { CheckContext, ReportFile } from '../../../core/interfaces/check.ts';
import type { Finding } from '../../../core/interfaces/finding.ts';
import type { CapturedOutput, SandboxResult } from '../../../core/interfaces/sandbox.ts';
import { toRuleInput } from '../../../testing.ts';

/** What a check's command is made to do, and what the check says of itself. */
export interface Given {
  readonly check?: Partial<CheckContext['check']>;
  /** `[checks.<id>] report`. */
  readonly report?: string;
  readonly stdout?: string | Uint8Array;
  readonly stderr?: string;
  readonly stdoutLost?: number;
  readonly result?: Partial<SandboxResult>;
  readonly signal?: string;
  readonly denied?: Finding;
  readonly notRun?: boolean;
  readonly reports?: Readonly<Record<string, string | Uint8Array>>;
  readonly rules?: Readonly<Record<string, readonly Finding[]>>;
}

/** A context that records what was asked of it. */
export function checkContext(given: Given) {
  const asked: { id: string; args: readonly string[] }[] = [];
  let commands = 0;
  const { artifacts, patch, scope, spec } = toRuleInput({ name: 'check' });
  const context: CheckContext = {
    check: {
      id: 'unit',
      kind: 'command',
      command: 'true',
      timeoutSeconds: 5,
      expectedExitCode: 0,
      required: true,
      artifactsProduced: [],
      ...given.check,
    },
    ...(given.report === undefined ? {} : { report: given.report }),
    async runCommand() {
      commands += 1;
      return {
        ...(given.denied ? { denied: given.denied } : {}),
        ...(given.notRun ? {} : { result: toResult(given) }),
        reports: toReports(given.reports ?? {}),
      };
    },
    async askRule(id, args) {
      asked.push({ id, args });
      return given.rules?.[id];
    },
    ruleInput: { spec, patch, scope, artifacts },
  };
  return { context, asked, commands: () => commands };
}

function toResult({ stdout = '', stderr = '', stdoutLost = 0, signal, result }: Given): SandboxResult {
  const ended = signal === undefined ? { exitCode: 0 } : { signal };
  return {
    ...ended,
    timedOut: false,
    aborted: false,
    durationMs: 12,
    stdout: capture(Buffer.from(stdout as Uint8Array), stdoutLost),
    stderr: capture(Buffer.from(stderr), 0),
    combined: capture(Buffer.concat([Buffer.from(stdout as Uint8Array), Buffer.from(stderr)]), stdoutLost),
    ...result,
  };
}

function capture(bytes: Buffer, lost: number): CapturedOutput {
  return { bytes, totalBytes: bytes.length + lost, truncated: lost > 0 };
}

function toReports(reports: Readonly<Record<string, string | Uint8Array>>): ReportFile[] {
  return Object.entries(reports).map(([name, bytes]) => ({ name, bytes: Buffer.from(bytes as Uint8Array) }));
}

/** Codes of the findings that fail the check. */
export function errorCodes(findings: readonly Finding[]): unknown[] {
  return findings.filter(({ severity }) => severity === 'error').map(({ detail }) => detail?.code);
}

/** Small reports are read without a thread. */
export const noPool = {
  run: async (): Promise<never> => {
    throw new Error('no thread is at hand');
  },
};
