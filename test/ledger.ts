import './contract-ledger.test.ts';
