/** The token of servers that tests start, here and in other processes: those take it from the environment. */
export const TOKEN = 'the-token-of-the-tests';
process.env.TRISCOPE_TOKEN = TOKEN;

export const BEARER = { Authorization: `Bearer ${TOKEN}` };
