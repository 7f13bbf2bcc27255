// Play a match of Can't Stop against a bot of the house, from the protos alone: npm install, then
//
//     node play.mjs localhost:50051
import { createHash, randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";

const address = process.argv[2] ?? "localhost:50051";
const protos = process.env.ROLLBOOK_PROTOS ?? fileURLToPath(new URL("../../../proto", import.meta.url));
const files = ["identity", "match", "feed"].map((name) => `rollbook/v1/${name}.proto`);
const definition = loader.loadSync(files, { includeDirs: [protos], keepCase: true, longs: Number, oneofs: true });
const { rollbook } = grpc.loadPackageDefinition(definition);
const service = (name) => new rollbook.v1[name](address, grpc.credentials.createInsecure());
const [identity, matches, feeds] = ["IdentityService", "MatchService", "FeedService"].map(service);

const metadata = new grpc.Metadata();
const call = (stub, method, request) =>
  new Promise((done, fail) =>
    stub[method](request, metadata, (error, answer) => (error ? fail(error) : done(answer))),
  );
const write = (method, request) => call(matches, method, { request_id: randomBytes(16).toString("hex"), ...request });
const sha256 = (...parts) => createHash("sha256").update(Buffer.concat(parts.map((part) => Buffer.from(part)))).digest();

// Be somebody, open a match, sit down, and ask a bot to the table.
const { token } = await call(identity, "SignIn", { name: "Jo from JavaScript" });
metadata.set("authorization", `Bearer ${token}`);
const { match_id } = await write("OpenMatch", { seats: 2, options: { cant_stop: {} } });
const entropy = randomBytes(32);
const { seat = 0 } = await write("TakeSeat", {
  match_id,
  entropy_commitment: sha256("rollbook/1/entropy", entropy),
});
const { made } = await write("AddBot", { match_id, strategy: "random" });
// The bot took the last seat, so the link of its event is what everybody agrees to.
await write("Ready", { match_id, closing_link: made.head.link, entropy });

// Choose whenever it is our turn: what comes first, which is to go on as long as that is allowed.
for await (const { frame, events } of feeds.WatchMatch({ match_id }, metadata)) {
  if (frame !== "events" || !events.legal) continue;
  const position = { sequence: events.head.sequence, link: events.head.link };
  const choice = { cant_stop: events.legal.cant_stop.choices[0] };
  // If the feed is behind, a later frame shows the turn again.
  await write("Choose", { match_id, position, choice }).catch((error) => {
    if (error.code !== grpc.status.ABORTED && error.code !== grpc.status.FAILED_PRECONDITION) throw error;
  });
}
const { summary } = await call(matches, "GetMatch", { match_id });
console.log(`match ${match_id}: place ${summary.places.places[seat]} of ${summary.seats.length}`);
process.exit(0);
