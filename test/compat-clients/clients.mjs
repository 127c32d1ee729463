// Calls every npm client as its documentation shows, and prints what it gave: client -> [disposable, good, wrong key].
import kickbox from "kickbox";
import NeverBounce from "neverbounce";
import { VerifaliaRestClient } from "verifalia";
import ZeroBounceSDK from "@zerobounce/zero-bounce-sdk";

const { COMPAT_KEY: key, COMPAT_URL: base } = process.env;
const WRONG = "wrong-key";
const ADDRESSES = ["jo@bad.example", "jo@good.example"];

/** What both addresses gave, then what the wrong key gave; a rejection is shown by `fault`. */
async function told(check, shown, fault) {
  const results = [];
  for (const address of ADDRESSES) results.push(shown(await check(key, address)));
  try {
    results.push(shown(await check(WRONG, ADDRESSES[1])));
  } catch (error) {
    results.push(fault(error));
  }
  return results;
}

const kickboxVerify = (options) => (apiKey, address) =>
  new Promise((resolve, reject) => {
    const client = kickbox.client(apiKey, options).kickbox();
    client.verify(address, (error, response) => (error ? reject(error) : resolve(response.body)));
  });

const zerobounce = (url) => (apiKey, address) => {
  const client = new ZeroBounceSDK();
  client.init(apiKey, url);
  return client.validateEmail(address);
};

const verifalia = (baseUris) => async (apiKey, address) => {
  const client = new VerifaliaRestClient({ username: "gatepost", password: apiKey, ...baseUris });
  const job = await client.emailValidations.submit([address]);
  await client.emailValidations.delete(job.overview.id);
  return job.entries[0];
};

const kickboxWords = ({ result }) => result;
const kickboxFault = ({ message, code }) => `${code}: ${message}`;
const zerobounceWords = (told) => told.error ?? `${told.status} ${told.sub_status}`;

const verifaliaWords = ({ classification, status }) => `${classification} ${status}`;
const verifaliaFault = ({ response }) => response.status;

const output = {
  "npm kickbox, by host": await told(kickboxVerify({}), kickboxWords, kickboxFault),
  "npm kickbox, by base and version": await told(
    kickboxVerify({ base, api_version: "compat/kickbox/v2" }),
    kickboxWords,
    kickboxFault,
  ),
  "npm neverbounce, by host": await told(
    (apiKey, address) => new NeverBounce({ apiKey }).single.check(address, true, true),
    (told) => told.getResult(),
    ({ type }) => type,
  ),
  "npm neverbounce, by version": await told(
    (apiKey, address) =>
      new NeverBounce({ apiKey, apiVersion: "compat/neverbounce/v4.2" }).single.check(address),
    (told) => told.getResult(),
    ({ type }) => type,
  ),
  "npm zero-bounce-sdk, by URL": await told(
    zerobounce(`${base}/compat/zerobounce/v2`),
    zerobounceWords,
    String,
  ),
  "npm verifalia, by host": await told(verifalia({}), verifaliaWords, verifaliaFault),
  "npm verifalia, by URL": await told(
    verifalia({ baseUris: [`${base}/compat/verifalia`] }),
    verifaliaWords,
    verifaliaFault,
  ),
};

const batch = new ZeroBounceSDK();
batch.init(key);
const { email_batch: rows } = await batch.validateBatch(
  ADDRESSES.map((address) => ({ email_address: address })),
);
output["npm zero-bounce-sdk, a batch by host"] = rows.map(({ status }) => status);
output["npm zero-bounce-sdk, credits by host"] = [(await batch.getCredits()).Credits];

process.stdout.write(JSON.stringify(output));
