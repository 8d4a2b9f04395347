/** Opens control of a session and holds it until it is killed or its input ends. Arguments: root, mode, token, info. */
import { systemClock } from '../../../core/base/clock.ts';
import { isWritError } from '../../../core/base/errors.ts';
import { findControlPlace, openControl } from '../../../session/client/open-control.ts';

const [root = '', mode = 'write', tokenFile, infoFile] = process.argv.slice(2);
const place = await findControlPlace(root, {
  ...(tokenFile === undefined ? {} : { tokenFile }),
  ...(infoFile === undefined ? {} : { infoFile }),
});
try {
  const options = {
    mode: mode === 'write' ? mode : 'observe',
    place,
    workingDir: root,
    clock: systemClock,
  } as const;
  const control = await openControl(options);
  await control.publish({ baseUrl: 'http://127.0.0.1:4321', threadId: 'thread' });
  process.stdout.write('open\n');
  process.stdin.resume().once('end', () => void control[Symbol.asyncDispose]());
} catch (fault) {
  process.stdout.write(
    `${isWritError(fault) ? JSON.stringify({ code: fault.code, ...fault.detail }) : String(fault)}\n`,
  );
}
