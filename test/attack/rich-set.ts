import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openUserSigningKey } from '../../attest/keys/key-signer.ts';
import type { Checkpoint } from '../../attest/log/checkpoint.ts';
import { type CheckpointMemory, forked, type SeenLog } from '../../attest/log/checkpoint-memory.ts';
import { openUserLedger } from '../../attest/log/internal-ledger-source.ts';
import { loadAnchors } from '../../attest/verify/anchors.ts';
import type { EvidenceSource } from '../../attest/verify/evidence-source.ts';
import type { VerifyReport } from '../../attest/verify/report.ts';
import { type VerifyOptions, verifyRun } from '../../attest/verify/verify-run.ts';
import { systemClock } from '../../core/base/clock.ts';
import type { AttestRequest } from '../../core/interfaces/sealing.ts';
import type { CheckRecord, StageRecord } from '../../core/interfaces/stage.ts';
import type { GateReport } from '../../store/record/gate-report.ts';
import { handSigner } from '../attest/approval/hand-signer.ts';
import { approvedBy } from '../attest/verify/approved-by.ts';
import {
  daysLater,
  type Machine,
  makeMachine,
  type SealChanges,
  type SealedRun,
  sealRun,
  toSource,
} from '../attest/verify/sealed-run.ts';

export const [ana, ben] = [handSigner(), handSigner()];

/** The people whom the verifier knows. */
export const people = Buffer.from(`ana@x ${ana.publicKey}\nben@x ${ben.publicKey}\n`);

/** A contract of two persons and two test suites, both of which ran. */
export const rich: SealChanges = {
  humanInLoop: { required: true, minApprovers: 2 },
  approvals: approvedBy({ by: ana, as: 'ana@x' }, { by: ben, as: 'ben@x' }),
  request: (request: AttestRequest) => ({ ...request, stages: withSuite(request.stages) }),
  report: (report: GateReport) => ({ ...report, stages: withSuite(report.stages) }),
};

/** Stages, with a second suite. */
function withSuite(stages: readonly StageRecord[]): readonly StageRecord[] {
  const checks = [endToEnd(stages)];
  return stages.map((stage) =>
    stage.stage === 'integration' ? { ...stage, status: 'passed', expected: 1, ran: 1, checks } : stage,
  );
}

function endToEnd(stages: readonly StageRecord[]): CheckRecord {
  const [unit] = stages.flatMap(({ checks }) => checks);
  if (unit === undefined) throw new Error('the workbench seals no check');
  return { ...unit, id: 'e2e', stage: 'integration' };
}

/** A valid set, and a verifier with anchors of its own who has seen it before. */
export interface AttackedSet {
  readonly machine: Machine;
  readonly sealed: SealedRun;
  /** Public key and log key of who sealed it, to be given. */
  readonly pem: string;
  readonly vkey: string;
  verify(run: SealedRun, options?: Partial<VerifyOptions>): Promise<VerifyReport>;
  verifySource(source: EvidenceSource, options?: Partial<VerifyOptions>): Promise<VerifyReport>;
}

/** Seals a rich run behind four others, so that its proof has hashes on both sides. */
export async function sealRichSet(hash: 'sha1' | 'sha256' = 'sha1'): Promise<AttackedSet> {
  const machine = makeMachine();
  for (const runId of ['run-a', 'run-b', 'run-c', 'run-d', 'run-e']) await sealRun(machine, { runId, hash });
  const sealed = await sealRun(machine, { ...rich, hash });
  const verifier = makeMachine();
  const pem = await pemOf(machine);
  const vkey = await openUserLedger(machine.commonDir, { HOME: machine.home }, systemClock).vkey();
  const anchors = await loadAnchors({ keyFiles: [pem], ledgerKeys: [vkey] }, { HOME: verifier.home });
  const always = { clock: daysLater(1), memory: memoryInHand(), allowedSigners: people };
  return {
    machine,
    sealed,
    pem,
    vkey,
    verify: (run, options) => verifyRun(toSource(run), anchors, { ...always, ...options }),
    verifySource: (source, options) => verifyRun(source, anchors, { ...always, ...options }),
  };
}

/** The public key of a machine's signer, in a file. */
export async function pemOf(machine: Machine): Promise<string> {
  const pem = join(makeMachine().root, 'signer.pem');
  writeFileSync(pem, (await openUserSigningKey({ HOME: machine.home })).publicKeyPem);
  return pem;
}

/** Checkpoint memory without a disk. */
export function memoryInHand(): CheckpointMemory {
  const seen = new Map<string, Checkpoint>();
  const of = ({ origin }: SeenLog): Checkpoint[] => [...seen.values()].filter((one) => one.origin === origin);
  return {
    latest: async (log) => of(log).sort((a, b) => b.size - a.size)[0],
    at: async ({ origin }, size) => seen.get(`${size} ${origin}`),
    async near(log, size) {
      const known = of(log).sort((a, b) => a.size - b.size);
      const next = [known.findLast((one) => one.size < size), known.find((one) => one.size > size)];
      return next.filter((one) => one !== undefined);
    },
    async remember(checkpoint) {
      const key = `${checkpoint.size} ${checkpoint.origin}`;
      const known = seen.get(key);
      if (known !== undefined && !known.root.equals(checkpoint.root)) throw forked(known, checkpoint);
      seen.set(key, checkpoint);
    },
  };
}

/** A machine with the same keys and the same ledger that has forgotten what it saw. */
export function twinOf(of: Machine): Machine {
  const twin = makeMachine();
  cpSync(of.root, twin.root, { recursive: true });
  rmSync(join(twin.home, '.config/writ/trust'), { recursive: true, force: true });
  return twin;
}
