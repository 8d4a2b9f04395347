import { PassThrough } from 'node:stream';
import t from 'tap';
import { openConnection } from '../../../agent/language-servers/connection.ts';

t.test('a connection ends when the server closes its output, even if its process goes on', async (t) => {
  const output = new PassThrough();
  const events = { notified() {}, answer: () => undefined };
  const connection = openConnection({ input: new PassThrough(), output }, events);
  const asked = connection.ask('initialize', {}, 600_000);
  output.end();
  await t.rejects(asked, { message: /ended/ });
  t.match(await connection.ended, { message: /ended/ });
  await t.rejects(connection.ask('shutdown', {}, 600_000), { message: /ended/ }, 'nor asked again');
});
