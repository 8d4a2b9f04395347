import { type Line, span } from '../../screen/line.ts';
import type { SessionDoor } from '../../screen/session-door.ts';
import { visible } from '../../screen/visible.ts';
import type { CommandRow, LocalCommand } from '../local-commands.ts';
import type { Shape } from '../print/shape.ts';
import { approvalLines, pickGrants } from './approval-lines.ts';
import { changeLines, reviewHunk, type ToldChange } from './change-lines.ts';
import { contractLines } from './contract-lines.ts';
import { commandLines, keyLines } from './help-lines.ts';
import { type Earlier, wholeTranscript } from './open-earlier.ts';
import { planLines } from './plan-lines.ts';
import { statusLines } from './status-lines.ts';
import { threadLines } from './thread-lines.ts';
import { transcriptText } from './transcript-text.ts';

export interface ShowContext {
  readonly door: SessionDoor;
  readonly rows: readonly CommandRow[];
  readonly shape: Shape;
  readonly columns: number;
  readonly earlier: Earlier;
  readonly told: ToldChange;
  readonly nowMs: number;
  /** Writes a new file; answers where it is. */
  readonly write: (path: string, text: string) => Promise<string>;
}

/** Does what a command of the screen says, and tells it in lines; nothing of those that leave it. */
export async function showLocal(
  command: LocalCommand,
  { door, rows, shape, columns, earlier, told, nowMs, write }: ShowContext,
): Promise<readonly Line[]> {
  switch (command.type) {
    case 'help':
      return [...commandLines(rows, columns), ...keyLines(columns)];
    case 'keys':
      return keyLines(columns);
    case 'status': {
      const diagnostics = await door.diagnostics();
      return [[], [span('Status', 'heading')], ...statusLines(door.snapshot(), diagnostics)];
    }
    case 'contract':
      return contractLines(door.snapshot(), shape, columns);
    case 'plan':
      return planLines(door.snapshot());
    case 'approvals':
      return [[span('Pre-approved', 'heading')], ...approvalLines(await door.approvals())];
    case 'revoke': {
      const picked = pickGrants(await door.approvals(), command.which);
      if (picked.length === 0) return [[span(`  no approval \`${visible(command.which)}\``, 'warn')]];
      for (const { id } of picked) await door.revoke(id);
      return picked.map(({ what }): Line => [span('  taken back: ', 'dim'), span(visible(what), 'code')]);
    }
    case 'diff':
      return changeLines(door.snapshot(), shape, columns, told);
    case 'review':
      return reviewHunk(door, command, told);
    case 'graph':
      return [[span('  writ graph ', 'dim'), span(door.snapshot().threadId, 'code')]];
    case 'threads':
      return threadLines(door, nowMs);
    case 'reclaim': {
      const { kind, ownerLabel = '' } = door.snapshot().controller;
      await door.reclaim();
      if (kind === 'tui') return [[span('  the session is yours already', 'dim')]];
      return [
        [
          span(
            `  the session is yours again, not that of ${visible(`${kind} ${ownerLabel}`)}`.trimEnd(),
            'dim',
          ),
        ],
      ];
    }
    case 'earlier':
      return earlier.show(command.count, columns);
    case 'export':
      return [[span('  written: ', 'dim'), span(visible(await write(command.path, await everything(door))))]];
    case 'none':
      return [[span(`  ${visible(command.why)}`, 'warn')]];
    case 'quit':
    case 'resume':
      // Ways to leave the screen, which show nothing.
      return [];
  }
}

async function everything(door: SessionDoor): Promise<string> {
  const transcript = [...(await wholeTranscript(door))];
  return transcriptText({ ...door.snapshot(), transcript });
}
