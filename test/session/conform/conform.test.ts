import t from 'tap';
import { casesOf } from '../../rooms/long.ts';
import { openChannelDoor } from './doors/channel-door.ts';
import { openHttpDoor } from './doors/http-door.ts';
import { openStdioDoor } from './doors/stdio-door.ts';
import { playScript } from './play-script.ts';
import { readScripts } from './session-script.ts';

const kept = ['a-question-is-answered', 'the-same-message-twice-is-one'];
/** Words that a name has to hold: one behaviour by hand. */
const only = process.env.WRIT_TEST_SESSION ?? '';

for (const [name, script] of casesOf(readScripts(), kept)) {
  if (!name.includes(only)) continue;
  t.test(`${name.replaceAll('-', ' ')}, in the process, over HTTP and over stdio`, async (t) => {
    const fault = (error: unknown): void => void t.fail(String(error));
    const channel = await playScript(t, script, (setting) => openChannelDoor(setting));
    const http = await playScript(t, script, (setting) => openHttpDoor(setting, fault));
    const stdio = await playScript(t, script, (setting, { env }) => openStdioDoor(setting, env, fault));
    t.equal(channel.length, script.steps.length, 'every step was made');
    t.strictSame(http, channel, 'over HTTP as in the process');
    t.strictSame(stdio, channel, 'over standard input as in the process');
  });
}
