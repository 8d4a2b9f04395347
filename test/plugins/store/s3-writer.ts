/* A process of the kill test: writes one content ref, and says so when that is done. */
import { systemClock } from '../../../core/base/clock.ts';
import { externalS3 } from '../../../plugins/store/external-s3-store.ts';
import { openRepository } from '../../../workspace/git/repository.ts';

export interface S3WriterOrder {
  readonly directory: string;
  readonly config: string;
  readonly ref: string;
  readonly files: readonly (readonly [path: string, text: string])[];
}

export async function openWriter({ directory, config }: Pick<S3WriterOrder, 'directory' | 'config'>) {
  const env = { AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: 'secret-of-test' };
  const repository = await openRepository(directory);
  const place = { repository, clock: systemClock, actorId: 'test', config: async () => Buffer.from(config) };
  return externalS3({ env }).open(place);
}

export async function writeOnce(order: S3WriterOrder): Promise<string> {
  const files = order.files.map(([path, text]) => [path, Buffer.from(text)] as const);
  const store = await openWriter(order);
  return store.writeTree(order.ref, {
    message: 'content',
    keepExisting: false,
    atMs: 0,
    expectedOld: null,
    files,
  });
}

const order = process.argv[2];
if (process.argv[1] === import.meta.filename && order !== undefined) {
  await writeOnce(JSON.parse(order) as S3WriterOrder);
  process.stdout.write('written\n');
}
