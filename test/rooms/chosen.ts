/* `node test/rooms/chosen.ts FILE…`: runs these files of tests, relative to `test/`, as a room runs its own. */
import { room } from './room.ts';

await room(...process.argv.slice(2));
