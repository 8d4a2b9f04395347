/** People who approve before a check is given what may change something: "2 means four-eyes" (document 1, Risk). */
export const leastApprovers = 2;
