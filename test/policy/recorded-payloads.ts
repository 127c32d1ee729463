import type { HookSystem } from "../../src/core/policy/outcomes.ts";

/** Payloads as the systems send them; SUB is where the address is. */
export const RECORDED: Readonly<Record<HookSystem, string>> = {
  supabase: `{"metadata":{"uuid":"8b34dcdd-9df1-4c10-850a-b3277c653040","name":"before-user-created","ip_address":"127.0.0.1"},"user":{"id":"ff7fc9ae-3b1b-4642-9241-64adb9848a03","aud":"authenticated","role":"","email":"SUB","phone":"","identities":[],"is_anonymous":false}}`,
  kratos: `{"identity_id":"00000000-0000-0000-0000-000000000000","email":"SUB","flow_id":"3d1b2c0a-6b0e-4c0b-9f0e-0a2b6d1c9e11","flow_type":"browser","ip":"198.51.100.7"}`,
  zitadel: `{"fullMethod":"/zitadel.user.v2.UserService/CreateUser","instanceID":"344648897353744526","request":{"human":{"profile":{"givenName":"Minnie"},"email":{"email":"SUB"}}}}`,
  fusionauth: `{"event":{"createInstant":1629912352952,"info":{"ipAddress":"63.239.150.2","userAgent":"Mozilla/5.0"},"type":"user.create","user":{"active":true,"email":"SUB","verified":true}}}`,
  neon: `{"event_type":"user.before_create","user":{"email":"SUB","name":"Jane Smith"},"event_data":{"ip_address":"192.0.2.1"}}`,
  standard: `{"email":"SUB"}`,
};
