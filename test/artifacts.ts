import { room } from './rooms/room.ts';

await room('attest/artifacts', 'bin/commands/sca-import.test.ts', 'readers/advisories');
