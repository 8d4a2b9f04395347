import type { ToolSettled } from '../../core/contract/hook-payload.ts';

/** Characters of all of it, and of what is repeated out of the request. */
const most = { all: 8000, asked: 6000, paths: 100 } as const;

/**
 * What was done with a tool and what came of it, a fact a line and the command last: the whole of it, where a summary
 * holds its beginning. Masked by whoever tells it.
 */
export function toolDetails({
  request,
  outcome,
  refusal,
  exitCode,
  heldBack,
  durationMs,
}: ToolSettled): string {
  const { tool, action, checkId, command, paths = [], query } = request;
  const asked = command ?? query ?? '';
  const told = asked.slice(0, most.asked).toWellFormed();
  const shownPaths = paths.slice(0, most.paths);
  const lines = [
    `${tool} ${action}: ${outcome}${exitCode === undefined ? '' : `, exit code ${exitCode}`}, ${durationMs} ms`,
    ...(checkId === undefined ? [] : [`check: ${checkId}`]),
    ...(refusal === undefined ? [] : [`refused by ${refusal.rule}: ${refusal.message}`]),
    ...(heldBack === undefined ? [] : [`the sandbox kept it from this: ${heldBack}`]),
    ...(shownPaths.length === 0 ? [] : [`paths: ${shownPaths.join(', ')}`]),
    ...(paths.length > shownPaths.length ? [`and ${paths.length - shownPaths.length} more paths`] : []),
    ...(told === '' ? [] : [`asked: ${told}${told.length < asked.length ? '…' : ''}`]),
  ];
  return lines.join('\n').slice(0, most.all).toWellFormed();
}
