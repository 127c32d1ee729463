<?php

declare(strict_types=1);

namespace Gatepost;

/** Sends one request. Throws GatepostException alone, by the deadline. */
interface Transport
{
    public function send(Request $request, Deadline $deadline): Response;
}
