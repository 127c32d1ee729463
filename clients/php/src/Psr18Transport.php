<?php

declare(strict_types=1);

namespace Gatepost;

use Psr\Http\Client\ClientExceptionInterface;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\StreamFactoryInterface;

/**
 * Asks through a PSR-18 client of yours. PSR-18 knows no deadline: give your client time limits below the one of Gatepost's. It
 * must not follow redirects.
 */
final class Psr18Transport implements Transport
{
    public function __construct(
        private readonly ClientInterface $client,
        private readonly RequestFactoryInterface&StreamFactoryInterface $factory,
    ) {
    }

    public function send(Request $request, Deadline $deadline): Response
    {
        $deadline->left();
        $message = $this->factory->createRequest($request->method, $request->url);
        foreach ($request->headers as $name => $value) {
            $message = $message->withHeader($name, $value);
        }
        if ($request->body !== null) {
            $message = $message->withBody($this->factory->createStream($request->body));
        }
        try {
            $answer = $this->client->sendRequest($message);
            $body = (string) $answer->getBody();
        } catch (ClientExceptionInterface | \RuntimeException $fault) {
            $deadline->left();
            throw new GatepostException('network', $fault->getMessage());
        }
        $deadline->left();
        if (strlen($body) > $request->limit) {
            throw new GatepostException('answer', "an answer of more than $request->limit octets");
        }
        $headers = array_map(fn (array $values): string => implode(', ', $values), $answer->getHeaders());
        return new Response($answer->getStatusCode(), array_change_key_case($headers), $body);
    }
}
