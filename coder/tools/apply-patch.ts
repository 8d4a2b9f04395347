import { isUtf8 } from 'node:buffer';
import type { Hands } from '../../core/contract/hands.ts';
import { applyHunks } from '../patch/apply-hunks.ts';
import { EnvelopeFault, type EnvelopeSection, readEnvelope } from '../patch/read-envelope.ts';
import type { CoderTool } from './tool.ts';

/** One file as it will be; nothing of a patch is written before all of it is known to fit. */
interface Change {
  readonly path: string;
  /** Absent: it goes. */
  readonly text?: string;
}

export const applyPatch: CoderTool = {
  name: 'apply_patch',
  says: `Changes files. The patch has this form:
*** Begin Patch
*** Update File: path/of/file
@@ a line above the change
 a line that stays
-a line that goes
+a line that comes
*** Add File: path/of/new
+every line with a plus
*** Delete File: path/of/old
*** End Patch
Three lines of context around each change; nothing is written unless all of it fits the files.`,
  takes: { patch: { type: 'string', says: 'the patch' } },
  async use({ patch }, hands) {
    const changes: Change[] = [];
    try {
      for (const section of readEnvelope(String(patch)))
        changes.push(...(await toChanges(section, hands, changes)));
    } catch (fault) {
      if (fault instanceof EnvelopeFault)
        return { text: `the patch was not applied: ${fault.message}`, isError: true };
      throw fault;
    }
    const said: string[] = [];
    for (const { path, text } of changes) {
      const answer = await hands.use(
        text === undefined ? { kind: 'delete', path } : { kind: 'write', path, bytes: Buffer.from(text) },
      );
      said.push(`${path}: ${answer.text}`);
      if (answer.outcome !== 'done')
        return { text: `stopped, the files before it are changed:\n${said.join('\n')}`, isError: true };
    }
    return { text: said.join('\n'), isError: false };
  },
};

async function toChanges(
  section: EnvelopeSection,
  hands: Hands,
  before: readonly Change[],
): Promise<readonly Change[]> {
  const { kind, path } = section;
  if (kind === 'delete') return [{ path }];
  if (kind === 'add') return [{ path, text: `${section.lines.join('\n')}\n` }];
  const text = await textOf(path, hands, before);
  const changed = applyHunks(text, section.hunks);
  return section.moveTo === undefined
    ? [{ path, text: changed }]
    : [{ path: section.moveTo, text: changed }, { path }];
}

async function textOf(path: string, hands: Hands, before: readonly Change[]): Promise<string> {
  const earlier = before.findLast((change) => change.path === path);
  if (earlier?.text !== undefined) return earlier.text;
  const { outcome, text, bytes } = await hands.use({ kind: 'read', path });
  if (outcome !== 'done') throw new EnvelopeFault(`\`${path}\`: ${text}`);
  if (bytes === undefined) throw new EnvelopeFault(`\`${path}\` is too large to be patched`);
  if (!isUtf8(bytes)) throw new EnvelopeFault(`\`${path}\` is not UTF-8`);
  return Buffer.from(bytes).toString('utf8');
}
