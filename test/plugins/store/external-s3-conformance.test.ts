import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { long } from '../../rooms/long.ts';
import { subjectOf } from './conformance.ts';
import { startS3 } from './fault-proxy.ts';
import { configFile } from './s3-content-store.ts';
import { storeTester } from './store-tester.ts';

long('content refs of the store with a bucket keep every promise of a store', async (t_) => {
  const server = await startS3();
  t.teardown(() => server.close());
  const config = `[store.s3]\nendpoint = "${server.endpoint}"\nbucket = "${server.bucket}"\n`;
  const subject = subjectOf(new URL('./s3-content-store.ts', import.meta.url), 'contentInS3');
  let made = 0;
  await storeTester(t_, {
    ...subject,
    repository: async () => {
      const directory = await subject.repository();
      made += 1;
      // The tester's refs have the same names in each repository, and a bucket is one for all.
      writeFileSync(join(directory, configFile), `${config}prefix = "case-${made}/"\n`);
      return directory;
    },
  });
});
