/* The events of a run in progress, for embedders and the service. */
import { definePlugin, type LoadedPlugin } from '../../core/kernel/plugin.ts';
import { compact } from '../envelope.ts';

/** Events of a running run, in order. */
export type RunEvent =
  | {
      readonly type: 'run_started';
      readonly data:
        | {
            readonly run_id: string;
            readonly resumed: false;
            readonly spec_id: string;
            readonly summary: string;
            /** Stages that list checks, in the order they run. */
            readonly stages: readonly string[];
          }
        | { readonly run_id: string; readonly resumed: true };
    }
  | {
      /** A check, or a tool that somebody called, has ended. */
      readonly type: 'tool_settled';
      readonly data: {
        readonly run_id: string;
        readonly tool: string;
        readonly check_id?: string;
        readonly outcome: 'done' | 'denied' | 'failed';
        readonly exit_code?: number;
        readonly duration_ms: number;
      };
    }
  | {
      readonly type: 'stage_settled';
      readonly data: {
        readonly run_id: string;
        readonly stage: string;
        readonly status: string;
        readonly expected: number;
        readonly ran: number;
      };
    }
  | {
      readonly type: 'decision_made';
      readonly data: {
        readonly run_id: string;
        readonly type: string;
        readonly rationale: string;
        readonly commit_sha?: string;
      };
    }
  | {
      readonly type: 'approval_needed';
      readonly data: { readonly run_id: string; readonly needed: number; readonly rationale: string };
    };

/** Observes the engine's runs and emits each event. Engine shutdown waits for `closed`. */
export function runEventsPlugin(
  name: string,
  tell: (event: RunEvent) => void,
  closed?: () => Promise<void>,
): LoadedPlugin {
  return definePlugin({
    name,
    api: 1,
    setup({ hooks }) {
      const begun = new Set<string>();
      const begin = (event: Extract<RunEvent, { readonly type: 'run_started' }>): void => {
        if (begun.has(event.data.run_id)) return;
        begun.add(event.data.run_id);
        tell(event);
      };
      const goOn = (run_id: string): void => begin({ type: 'run_started', data: { run_id, resumed: true } });
      hooks.plan.review.tap(({ runId: run_id, spec, stages }) =>
        begin({
          type: 'run_started',
          data: { run_id, resumed: false, spec_id: spec.metadata.id, summary: spec.intent.summary, stages },
        }),
      );
      hooks.tool.settled.tap(({ request, outcome, exitCode, durationMs }) => {
        const { runId: run_id, tool, checkId } = request;
        goOn(run_id);
        const data = {
          run_id,
          tool,
          check_id: checkId,
          outcome,
          exit_code: exitCode,
          duration_ms: durationMs,
        };
        tell({ type: 'tool_settled', data: compact(data) });
      });
      hooks.stage.settled.tap(({ runId: run_id, stage: { stage, status, expected, ran } }) => {
        goOn(run_id);
        tell({ type: 'stage_settled', data: { run_id, stage, status, expected, ran } });
      });
      hooks.decision.made.tap(({ runId: run_id, type, rationale, commitSha, waiting }) => {
        goOn(run_id);
        tell({ type: 'decision_made', data: compact({ run_id, type, rationale, commit_sha: commitSha }) });
        if (waiting?.for === 'approval')
          tell({ type: 'approval_needed', data: { run_id, needed: waiting.needed, rationale } });
      });
      if (closed) hooks.engine.closed.tap(closed);
      return undefined;
    },
  });
}
