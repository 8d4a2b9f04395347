import { room } from './rooms/room.ts';

await room('contract-ledger.test.ts', 'ledger/pairs.test.ts', 'ledger/session-rows.test.ts');
