/* The public entry point for verification without an engine. */
export type { VerificationData } from './api/schemas/verification-schema.ts';
export type { VerifyWarning } from './api/verify/verification-data.ts';
export { verifyMaterial } from './api/verify/verify-bytes.ts';
export type { RequestedArtifact as AskedArtifact, VerifyRequest } from './api/verify/verify-request.ts';
export type { Trust } from './attest/verify/anchors.ts';
export type { CheckCode, CheckDetail, CheckStatus, VerifyCheck } from './attest/verify/report.ts';
export type { ErrorCode } from './core/base/error-codes.ts';
export type { ErrorDetail } from './core/base/errors.ts';
export { isWritError, WritError } from './core/base/errors.ts';
export { verifyRepository } from './plugins/preset/verify-repository.ts';
