import { uuidV7From } from '../../core/base/ids.ts';
import { schedulerOf } from '../../spec/facts.ts';
import { sealObject } from '../../store/stored-object.ts';
import { openAdmission } from '../context/admission.ts';
import { type ContextFrame, type ContextFrames, openContextFrames } from '../context/frame-window.ts';
import { frameBody } from '../context/take-context.ts';
import { openEvidence } from '../state/open-evidence.ts';
import { type OpenRun, policyOf } from '../state/open-run.ts';
import type { SettledAttempt } from './attempt-files.ts';

/** The context pipeline (`contextPipeline` in the spec) of a run with a worker. */
export interface RunFrames extends Pick<ContextFrames, 'checkpoint'> {
  /** Adds the outcome of an attempt as context for the next one. */
  add(settled: SettledAttempt): Promise<void>;
  /** Puts every frame into the record, and whether it is still seen or was evicted. */
  keep(): Promise<void>;
}

/** Opens the pipeline with its seed; rebuilt by every process from the attempts as it reads them back. */
export async function openRunFrames(run: OpenRun): Promise<RunFrames> {
  const {
    identity: { contract, runId, startedAtMs },
    means: { engine },
  } = run;
  const spec = contract.effective;
  const admit = openAdmission({
    spec,
    strategy: await openEvidence(run),
    hooks: engine.hooks,
    runId,
    words: policyOf(run).words,
  });
  const frames = await openContextFrames(spec, admit);
  const toFile = (frame: ContextFrame, evicted: boolean, nowMs: number): [string, Uint8Array] => [
    `frames/${String(frame.sequence).padStart(6, '0')}.json`,
    sealObject('context_frame', frameBody(runId, frame, evicted), {
      nowMs,
      objectId: uuidV7From(startedAtMs, `${runId}/frame/${frame.sequence}`),
      createdBy: schedulerOf(spec),
    }).bytes,
  ];
  return {
    checkpoint: frames.checkpoint,
    async add({ name, decision, failure }) {
      const accepted = decision.next === 'merge';
      await frames.push({
        kind: accepted ? 'CodeChange' : 'ErrorRecovery',
        name,
        text: accepted ? decision.rationale : `${decision.rationale}\n${failure}`,
        tags: { trust: 'untrusted' },
      });
    },
    async keep() {
      const nowMs = await run.means.steps.once('frames-at', () => run.means.settings.clock.now());
      await run.means.record.put([
        ...frames.evicted().map((frame) => toFile(frame, true, nowMs)),
        ...frames.frames().map((frame) => toFile(frame, false, nowMs)),
      ]);
    },
  };
}
