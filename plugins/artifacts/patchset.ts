import type { ArtifactProducer } from '../../core/contract/artifact-producer.ts';
import type { PatchSet } from '../../core/contract/patch-set.ts';

/** `patchset`: the diff from base to candidate as `objmodel.runPolicy.patchsetFormat` wants it. */
export const patchsetProducer = {
  contentType: 'text/x-diff',
  extension: 'patch',
  async produce({ spec, patch }) {
    return spec.objmodel.runPolicy.patchsetFormat === 'GitDiff'
      ? Buffer.from(patch.diff)
      : toUnifiedDiff(patch);
  },
} satisfies ArtifactProducer;

/**
 * The diff with plain `---`/`+++` headers. What those cannot say (rename, copy, mode, link, binary, empty file) keeps
 * its git section, so that applying the result gives the candidate, whole.
 */
function toUnifiedDiff({ diff, files }: Pick<PatchSet, 'diff' | 'files'>): Uint8Array {
  const bytes = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
  const parts: Buffer[] = [];
  // Behind a git section without hunks, `---` would be read as part of that section.
  let headerOpen = false;
  for (const { start, end } of files) {
    const git = bytes.subarray(start, end);
    const plain: Buffer | undefined = headerOpen ? undefined : plainSection(git);
    parts.push(plain ?? git);
    headerOpen = plain === undefined && !git.includes('\n@@ -');
  }
  return Buffer.concat(parts);
}

function plainSection(git: Buffer): Buffer | undefined {
  const header = git.indexOf('\n--- ');
  if (header < 0) return undefined;
  const lines = git.toString('latin1', 0, header).split('\n').slice(1);
  const plain = lines.every((line) =>
    /^(?:index [0-9a-f.]+(?: 100644)?|(?:new|deleted) file mode 100644)$/.test(line),
  );
  return plain ? git.subarray(header + 1) : undefined;
}
