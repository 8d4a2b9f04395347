import { Readable } from 'node:stream';
import { readEventStream } from '../../../core/base/event-stream.ts';
import { parseStrictJson } from '../../../core/base/strict-json.ts';
import type { Jobs } from '../count-work.ts';
import { ofPieces } from '../of-pieces.ts';

export const jobs: Jobs = {
  ...ofPieces(
    'strict JSON',
    [
      (size) => `{${Array.from({ length: size / 8 }, (_, index) => `"k${index}":1`).join(',')}}`,
      (size) => `"${'\\n'.repeat(size / 2)}"`,
      (size) => `"${'\\ud83d\\ude00'.repeat(size / 12)}"`,
      (size) => `${'1'.repeat(size)}e-${size}`,
      (size) => `[${'1,'.repeat(size / 2)}1]`,
      (size) => ' '.repeat(size),
    ],
    refusesOrReads,
  ),
  'an event of one long line in pieces of 64 octets': {
    prepare: (size) => {
      const line = Buffer.from(`data: ${'x'.repeat(size - 8)}\n\n`);
      const parts: Buffer[] = [];
      for (let at = 0; at < line.length; at += 64) parts.push(line.subarray(at, at + 64));
      return async () => {
        let length = 0;
        for await (const { data } of readEventStream(Readable.from(parts))) length = data.length;
        if (length !== size - 8) throw new Error(`${length} octets came`);
      };
    },
    size: 16_000,
  },
};

function refusesOrReads(text: string): void {
  try {
    parseStrictJson(Buffer.from(text));
  } catch (fault) {
    if (!(fault instanceof Error && 'code' in fault)) throw fault;
  }
}
