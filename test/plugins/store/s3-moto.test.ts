import { spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { sha256Hex } from '../../../core/base/canonical.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { createStreamer } from '../../../core/base/net.ts';
import { openS3 } from '../../../plugins/store/s3/s3-client.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';

const python = ['-c', 'import moto.server'];
const skip = spawnSync('python3', python).status === 0 ? false : 'Python has no `moto` with its server';

/** moto honours conditions itself, so the client talks to it directly. */
long(
  'a server of another family keeps content, conditions and parts',
  { skip, timeout: 120_000 },
  async (t) => {
    const port = await freePort();
    const server = spawn('python3', ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)], {
      stdio: 'ignore',
    });
    const { stream, close } = createStreamer({});
    t.teardown(async () => {
      server.kill('SIGKILL');
      await close();
    });
    const endpoint = `http://127.0.0.1:${port}`;
    await until(
      () =>
        fetch(`${endpoint}/moto-api/`).then(
          ({ ok }) => ok,
          () => false,
        ),
      'moto to answer',
    );
    await fetch(`${endpoint}/moto-bucket`, { method: 'PUT' });
    const place = { endpoint, bucket: 'moto-bucket', prefix: 'writ/', region: 'us-east-1', pathStyle: true };
    const keys = { accessKeyId: 'AKIATEST', secretAccessKey: 'secret-of-test' };
    const pace = { partBytes: 5 * 1024 * 1024 };
    const client = openS3(place, { stream, clock: systemClock, credentials: async () => keys, pace });
    await client.tryWriters();
    for (const text of ['small', 'large '.repeat(1_000_000)]) {
      const body = Buffer.from(text);
      const expected = { sha256: sha256Hex(body), sizeBytes: body.length };
      const key = `run/${expected.sha256}`;
      await Promise.all(Array.from({ length: 4 }, () => client.put(key, body, 'text/plain')));
      t.ok((await client.get(key, expected))?.equals(body));
      t.equal(await client.size(key), body.length);
    }
    await client.clear('run/', () => true);
    t.equal(await client.size(`run/${sha256Hex(Buffer.from('small'))}`), undefined);
  },
);

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
