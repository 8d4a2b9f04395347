export const judges = 'nobody';
